import { OperatorError } from '../../errors.ts';
import { CsvRun } from './csv-run.ts';
import { Progress } from './progress.ts';
import { type CsvRecord, RecordSplitter } from './records.ts';
import type { RowKernel } from './row-kernel.ts';
import { openInput, writeOut } from './streams.ts';

/** Text is read and written byte by character: what passes through stays what it was, whatever its encoding. */
const ENCODING = 'latin1';
const BOM = Buffer.from('\ufeff').toString(ENCODING);

/**
 * Streams a CSV through a kernel to stdout, piece by piece: memory does not grow with the input. Throws `OperatorError` where the
 * input is no such table, and at the end where rows could not be computed.
 */
export async function streamCsv(kernel: RowKernel, file: string | undefined): Promise<void> {
  const { pieces, bytes } = openInput(file);
  // Where the rows themselves run over the terminal, they are the progress.
  const shows = process.stderr.isTTY && !process.stdout.isTTY;
  const progress = new Progress(
    (text) => shows && process.stderr.write(text),
    bytes,
    () => performance.now(),
  );
  const splitter = new RecordSplitter();
  let run: CsvRun | undefined;
  let read = 0;
  /** False where nobody reads the output any more. */
  const take = (records: readonly CsvRecord[]): Promise<boolean> => {
    const [first, ...rest] = records;
    if (first === undefined) return Promise.resolve(true);
    if (run) return writeOut(Buffer.from(run.compute(records), ENCODING));
    run = new CsvRun(kernel, first.text);
    return writeOut(Buffer.from(run.header() + run.compute(rest), ENCODING));
  };
  try {
    for await (const piece of pieces) {
      const text = piece.toString(ENCODING);
      if (!(await take(splitter.push(read === 0 && text.startsWith(BOM) ? text.slice(BOM.length) : text)))) return;
      read += piece.length;
      progress.reached(read, run?.rows ?? 0);
    }
    if (!(await take(splitter.end()))) return;
  } finally {
    progress.end();
  }
  if (!run)
    throw new OperatorError(
      'the input is empty',
      `its first line names the columns: ${Object.keys(kernel.inputs).join(',')}`,
    );
  if (run.badRows > 0) {
    const more = run.badRows > run.told.length ? ['...'] : [];
    throw new OperatorError(
      `${run.badRows} of ${run.rows} rows could not be computed; their outputs are empty`,
      [...run.told, ...more].join('\n  '),
    );
  }
}
