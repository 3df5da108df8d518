import { fstatSync, openSync, read, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { OperatorError } from '../../core/errors.ts';

/** Size of a chunk of the input. A chunk has a few thousand rows, which are computed in one step. */
const PIECE_BYTES = 256 * 1024;
const STDIN = 0;

/**
 * Opens a file, or stdin for `-`. Returns the chunks of the input, each of which is valid until the next one, and the size of the input if
 * known. Throws `OperatorError` if the file does not exist or is a folder, or if stdin is a terminal, and errors of the system.
 */
export function openInput(file = '-') {
  if (file === '-' && isatty(STDIN)) throw new OperatorError('there is no input', 'Name a CSV file, or pipe one in.');
  const stat = file === '-' ? fstatSync(STDIN) : statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new OperatorError(`there is no file ${file}`, 'Name a CSV file, or pipe one in.');
  if (stat.isDirectory() && file !== '-')
    throw new OperatorError(`${file} is a folder`, 'Name a CSV file, or pipe one in.');
  return { pieces: piecesOf(file === '-' ? STDIN : openSync(file, 'r')), bytes: stat.isFile() ? stat.size : undefined };
}

async function* piecesOf(fd: number): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  for (;;) {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    read(fd, piece, 0, PIECE_BYTES, null, (error, count) => (error ? reject(error) : resolve(count)));
    const count = await promise;
    if (count === 0) return;
    yield piece.subarray(0, count);
  }
}

// The streams with an `error` listener. Without one, an `error` event would end the process. Each write gets its error in a callback.
const listened = new WeakSet<NodeJS.WriteStream>();

/** Writes to stdout. Resolves with true when the write is complete, and with false if the reader, for example `head`, has closed the pipe. */
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
