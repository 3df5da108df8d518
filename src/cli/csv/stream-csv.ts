import { OperatorError } from '../../core/errors.ts';
import { CsvRun } from './csv-run.ts';
import { ProgressBar } from './progress.ts';
import { type CsvRecord, RecordSplitter } from './records.ts';
import type { RowKernel } from './row-kernel.ts';
import { openInput, writeOut } from './streams.ts';

/** In Latin-1, each byte is one character. Unchanged cells therefore keep their bytes, whatever the encoding of the file is. */
const ENCODING = 'latin1';
const BOM = Buffer.from('\ufeff').toString(ENCODING);

/**
 * Streams a CSV through a kernel to stdout. The input is read in chunks, so the use of memory does not grow with its size. Throws
 * `OperatorError` if the input is not a CSV with the kernel's columns. After the last row, throws `OperatorError` if some rows were bad.
 */
export async function streamCsv(kernel: RowKernel, file: string | undefined): Promise<void> {
  const { pieces, bytes } = openInput(file);
  // If stdout is also a terminal, the output rows themselves show the progress.
  const isShown = process.stderr.isTTY && !process.stdout.isTTY;
  const progress = new ProgressBar(
    (text) => isShown && process.stderr.write(text),
    bytes,
    () => performance.now(),
  );
  const splitter = new RecordSplitter();
  let run: CsvRun | undefined;
  let read = 0;
  /** Writes the records with their outputs to stdout. Resolves with false if the reader of stdout has closed the stream. */
  const writeRecords = (records: readonly CsvRecord[]): Promise<boolean> => {
    const [first, ...rest] = records;
    if (first === undefined) return Promise.resolve(true);
    if (run) return writeOut(Buffer.from(run.compute(records), ENCODING));
    run = new CsvRun(kernel, first.text);
    return writeOut(Buffer.from(run.header() + run.compute(rest), ENCODING));
  };
  try {
    for await (const piece of pieces) {
      const text = piece.toString(ENCODING);
      if (!(await writeRecords(splitter.push(read === 0 && text.startsWith(BOM) ? text.slice(BOM.length) : text))))
        return;
      read += piece.length;
      progress.update(read, run?.rows ?? 0);
    }
    if (!(await writeRecords(splitter.end()))) return;
  } finally {
    progress.end();
  }
  if (!run)
    throw new OperatorError(
      'the input is empty',
      `Name the columns in the first line: ${Object.keys(kernel.inputs).join(',')}.`,
    );
  if (run.badRows > 0) {
    const more = run.badRows > run.messages.length ? ['...'] : [];
    throw new OperatorError(
      `${run.badRows} of ${run.rows} rows could not be computed; their outputs are empty`,
      [...run.messages, ...more].join('\n  '),
    );
  }
}
