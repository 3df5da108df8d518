import { createReadStream, fstatSync, type Stats, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { OperatorError } from '../../core/errors.ts';

/** Size of a chunk of the input. A chunk has a few thousand rows, which are computed in one step. */
const PIECE_BYTES = 256 * 1024;
const STDIN = 0;

/**
 * Opens a file, or stdin if `file` is missing or `-`. Returns the chunks of the input, and the size of the whole input if known. Throws
 * `OperatorError` if the file does not exist or is a folder, or if stdin is a terminal. Throws other errors of the system unchanged.
 */
export function openInput(file: string | undefined) {
  if (file === undefined || file === '-') {
    if (isatty(STDIN)) throw new OperatorError('there is no input', 'Name a CSV file, or pipe one in.');
    return {
      pieces: createReadStream('', { fd: STDIN, autoClose: false, highWaterMark: PIECE_BYTES }),
      bytes: sizeOf(fstatSync(STDIN)),
    };
  }
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new OperatorError(`there is no file ${file}`, 'Name a CSV file, or pipe one in.');
  if (stat.isDirectory()) throw new OperatorError(`${file} is a folder`, 'Name a CSV file, or pipe one in.');
  return { pieces: createReadStream(file, { highWaterMark: PIECE_BYTES }), bytes: sizeOf(stat) };
}

function sizeOf(stat: Stats): number | undefined {
  return stat.isFile() ? stat.size : undefined;
}

// The streams with an `error` listener. The listener does nothing, because each write gets its error in a callback. Without any listener,
// an `error` event of the stream would end the process.
const listened = new WeakSet<NodeJS.WriteStream>();

/**
 * Writes to stdout. Resolves with true when the write is complete, so that a caller can wait if the reader is slow. Resolves with false if
 * the reader, for example `head`, has closed the pipe. Rejects with all other errors of the write.
 */
export function writeOut(text: Uint8Array | string): Promise<boolean> {
  if (!listened.has(process.stdout)) {
    process.stdout.on('error', () => {});
    listened.add(process.stdout);
  }
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (!error) resolve(true);
      else if ('code' in error && error.code === 'EPIPE') resolve(false);
      else reject(error);
    });
  });
}

/** Writes a line to stdout, without waiting for a slow reader. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
