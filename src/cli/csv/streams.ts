import { createReadStream, fstatSync, type Stats, statSync } from 'node:fs';
import { isatty } from 'node:tty';
import { OperatorError } from '../../errors.ts';

export interface Input {
  readonly pieces: AsyncIterable<Buffer>;
  /** Of the whole, where that is known. */
  readonly bytes: number | undefined;
}

/** Read at a time, and computed at a time: some thousand rows. */
const PIECE_BYTES = 256 * 1024;
const STDIN = 0;

/** A file, or without one (or for `-`) what is piped in. Throws `OperatorError` where there is neither. */
export function openInput(file: string | undefined): Input {
  if (file === undefined || file === '-') {
    if (isatty(STDIN)) throw new OperatorError('nothing is piped in', 'name a CSV file, or pipe one in');
    return {
      pieces: createReadStream('', { fd: STDIN, autoClose: false, highWaterMark: PIECE_BYTES }),
      bytes: sizeOf(fstatSync(STDIN)),
    };
  }
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new OperatorError(`there is no file ${file}`, 'name a CSV file, or pipe one in');
  if (stat.isDirectory()) throw new OperatorError(`${file} is a folder`, 'name a CSV file, or pipe one in');
  return { pieces: createReadStream(file, { highWaterMark: PIECE_BYTES }), bytes: sizeOf(stat) };
}

function sizeOf(stat: Stats): number | undefined {
  return stat.isFile() ? stat.size : undefined;
}

// Each write hears of its own failure; unheard, the stream's own telling would end the process.
const listened = new WeakSet<NodeJS.WriteStream>();

/** Writes to stdout, no faster than it is read; false where nobody reads any more (`| head`). */
export function writeOut(text: Buffer): Promise<boolean> {
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
