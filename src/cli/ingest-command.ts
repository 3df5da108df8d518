import { constants } from 'node:os';
import { Argument, type Command } from 'commander';
import { cleanLine, shownJson } from '../clean-text.ts';
import { OperatorError } from '../errors.ts';
import type { LoadedFile } from '../market/feed.ts';
import { ProgressBar } from './csv/progress.ts';
import type { Ports } from './ports.ts';
import { withSettings } from './settings.ts';

/** `zomma ingest`: loads files and folders of market data into the store. */
export function addIngest(program: Command, ports: Ports): void {
  withSettings(
    program
      .command('ingest')
      .description('Load market data into the store: option prints (a tape of any size), chains, closes.')
      .addArgument(new Argument('<path...>', 'files, or folders including their sub-folders'))
      .option('--json', 'print one JSON object'),
    ['dataDir', 'dataMax'],
  )
    .addHelpText(
      'after',
      `
Formats: prints, chains and closes as CSV or Parquet, quote-table CSV, delayed-quote JSON, each with or without gzip.
Zomma detects the format from the content. A running server sees each batch at once. If a run is interrupted, run it
again: each print is stored only once.

Examples:
  $ zomma ingest tape-2026-08-17.csv
  $ zomma ingest ./tapes ./chains --data-dir /var/lib/zomma
  $ zomma ingest tape-2026-08-17.csv --json
`,
    )
    .action(async (paths: string[], options) => {
      const startedMs = performance.now();
      const loaded = await withProgress((reached) => ports.load(options, paths, reached));
      const files = loaded.flat();
      const seconds = (performance.now() - startedMs) / 1000;
      const totals = totalsOf(files, seconds);
      if (options.json) process.stdout.write(`${shownJson({ files, ...totals })}\n`);
      else process.stdout.write(`${[...files.flatMap(linesOf), totalLine(files, totals)].join('\n')}\n`);
      refuseBarren(paths.filter((_, at) => !loaded[at]?.some(isFruitful)));
    });
}

/** Runs `work` and shows its progress if stderr is a terminal. If a signal interrupts the process, says how many rows were read. */
async function withProgress<T>(
  work: (reached: (bytes: number, ofBytes: number, rows: number) => void) => Promise<T>,
): Promise<T> {
  let progress: ProgressBar | undefined;
  let last = 0;
  const brokenOff = (signal: NodeJS.Signals) => {
    progress?.end();
    process.stderr.write(
      `zomma: interrupted after ${grouped(last)} rows; stored rows stay, and another run does not store them twice\n`,
    );
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, brokenOff);
  const write = (text: string) => process.stderr.isTTY && process.stderr.write(text);
  try {
    return await work((bytes, ofBytes, rows) => {
      progress ??= new ProgressBar(write, ofBytes, () => performance.now());
      last = rows;
      progress.reached(bytes, rows);
    });
  } finally {
    progress?.end();
    for (const signal of SIGNALS) process.off(signal, brokenOff);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

function totalsOf(files: readonly LoadedFile[], seconds: number) {
  const sum = (count: (file: LoadedFile) => number) => files.reduce((all, file) => all + count(file), 0);
  const rows = sum((file) => file.rows);
  return {
    rows,
    kept: sum((file) => file.kept),
    known: sum((file) => file.known),
    changed: sum((file) => file.changed),
    refused: sum(refusedRows),
    seconds: Number(seconds.toFixed(3)),
    rows_per_second: Math.round(rows / seconds),
  };
}

function refusedRows({ rows, kept, known }: LoadedFile): number {
  return rows - kept - known;
}

function linesOf(file: LoadedFile): string[] {
  const { path, rows, kept, known, changed, refused, refusals } = file;
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${grouped(count)}`);
  const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
  const counts = `${grouped(kept)} stored, ${knownOf(known, changed)}, ${grouped(refusedRows(file))} rejected${why}`;
  return [
    `${cleanLine(path)}: ${grouped(rows)} rows: ${counts}`,
    ...refusals.map((reason) => `  rejected: ${cleanLine(reason)}`),
  ];
}

function totalLine(files: readonly LoadedFile[], totals: ReturnType<typeof totalsOf>): string {
  const { rows, kept, known, changed, refused, seconds, rows_per_second } = totals;
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${grouped(rows)} rows in ${seconds} s (${grouped(rows_per_second)} rows/s): ${grouped(kept)} stored, ${knownOf(known, changed)}, ${grouped(refused)} rejected`;
}

function knownOf(known: number, changed: number): string {
  return `${grouped(known)} already known${changed > 0 ? ` (${grouped(changed)} of them corrected or canceled)` : ''}`;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** Whether the file has usable data. A tape without rows counts as usable: its day has not begun. */
function isFruitful({ rows, kept, known, refusals }: LoadedFile): boolean {
  return kept + known > 0 || (rows === 0 && refusals.length === 0);
}

/** Throws `OperatorError` if some paths have no usable data. A path with only some rejected rows is not an error. */
function refuseBarren(paths: readonly string[]): void {
  if (paths.length === 0) return;
  throw new OperatorError(
    `${paths.join(', ')}: no market data that can be used`,
    'Use prints, chains or closes as CSV or Parquet, a quote-table CSV or a delayed-quote JSON, each with or without gzip. Unpack archives first.',
  );
}
