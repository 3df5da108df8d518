import { OperatorError } from '../../core/errors.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { CsvRows } from './csv-rows.ts';
import { CsvRun } from './csv-run.ts';
import { ProgressBar } from './progress.ts';
import type { RowKernel } from './row-kernel.ts';
import { openInput, writeOut } from './streams.ts';

const BOM = Buffer.from('\ufeff');

/**
 * Streams a CSV through a kernel to stdout, in chunks. Throws `OperatorError` if the input is not a CSV with the kernel's columns, and after
 * the last row if some rows were bad.
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
  const rows = new CsvRows();
  let run: CsvRun | undefined;
  let read = 0;
  const addBlock = (block: RowScanner, line: number) => {
    const isFirst = run === undefined;
    run ??= new CsvRun(kernel, block);
    run.add(block, isFirst ? 1 : 0, line);
  };
  /** Writes the rows that were added to stdout. Resolves with false if the reader of stdout has closed the stream. */
  const writeRows = async (): Promise<boolean> => {
    if (!run || run.text.length === 0) return true;
    const isOpen = await writeOut(run.text.bytes());
    run.text.clear();
    return isOpen;
  };
  try {
    for await (const piece of pieces) {
      rows.push(read === 0 && piece.subarray(0, BOM.length).equals(BOM) ? piece.subarray(BOM.length) : piece, addBlock);
      if (!(await writeRows())) return;
      read += piece.length;
      progress.update(read, run?.rows ?? 0);
    }
    rows.end(addBlock);
    if (!(await writeRows())) return;
  } finally {
    progress.end();
  }
  const columns = Object.keys(kernel.inputs).join(',');
  if (!run) throw new OperatorError('the input is empty', `Name the columns in the first line: ${columns}.`);
  const { rows: count, badRows, messages } = run;
  if (badRows === 0) return;
  const hint = [...messages, ...(badRows > messages.length ? ['...'] : [])].join('\n  ');
  throw new OperatorError(`${badRows} of ${count} rows could not be computed; their outputs are empty`, hint);
}
