import { cleanLine, shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import type { LoadedFile } from '../market/feed.ts';
import type { Ports } from '../server/cli-ports.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { ProgressBar } from './csv/progress.ts';
import { print } from './csv/streams.ts';
import { addThetadata } from './ingest-thetadata.ts';
import { formatCount } from './text-format.ts';
import { untilSignal } from './until-signal.ts';

/** Adds `zomma ingest`, which loads files and folders of market data into the store. */
export function addIngest(program: CliCommand, ports: Ports): void {
  const ingest = program.command('ingest');
  ingest
    .description(
      'Load market data into the data folder: option trades (prints, in a tape of any size), option chains, closing prices, dividends.',
    )
    .argument('<path...>', 'files, or folders including their sub-folders')
    .stated()
    .json()
    .settings([...DATA_PLACE, 'dataMax'])
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Prints, chains, closing prices and dividends may be CSV or Parquet, also as vendors write them (docs/vendors.md). Chains may also be CBOE's quote-table
CSV, or JSON as providers send it. The column known_from of a table of dividends says from when on each was known; without it, from now on.
All formats except Parquet may be compressed with gzip.
Zomma detects the format from the content. A running server uses each part of the data as soon as the part is stored.
If a run is interrupted, run it again: each print is stored only once.`,
    )
    .examples(
      'zomma ingest tape-2026-08-17.csv',
      'zomma ingest ./tapes ./chains --data-dir /var/lib/zomma',
      'zomma ingest tape-2026-08-17.csv --json',
      'zomma ingest chain.csv --as-of 2026-08-21',
      'zomma ingest trades.csv --zone America/New_York',
      'zomma ingest history --map vendor.toml',
    )
    .action(async (paths: string[], options) => {
      const startedMs = performance.now();
      const stated = await ports.stated(options);
      const loaded = await withProgress((onProgress) => ports.load(options, paths, stated, onProgress));
      const files = loaded.flat();
      const seconds = (performance.now() - startedMs) / 1000;
      const totals = totalsOf(files, seconds);
      if (options.json) print(shownJson({ files, ...totals }));
      else print([...files.flatMap(linesOf), totalLine(files, totals), ...refusedLine(files)].join('\n'));
      rejectUnusable(paths.filter((_, i) => !loaded[i]?.some(hasUsableData)));
    });
  addThetadata(ingest, ports);
}

/** Runs `work`. Shows its progress if stderr is a terminal. If a signal ends the process, prints the number of rows read so far. */
async function withProgress<T>(
  work: (onProgress: (bytes: number, ofBytes: number, rows: number) => void) => Promise<T>,
): Promise<T> {
  let progress: ProgressBar | undefined;
  let last = 0;
  const interrupted = () => {
    progress?.end();
    return `after ${formatCount(last)} rows. Stored rows stay in the store, and another run does not store them twice.`;
  };
  const write = (text: string) => process.stderr.isTTY && process.stderr.write(text);
  return await untilSignal(interrupted, async () => {
    try {
      return await work((bytes, ofBytes, rows) => {
        progress ??= new ProgressBar(write, ofBytes, () => performance.now());
        last = rows;
        progress.update(bytes, rows);
      });
    } finally {
      progress?.end();
    }
  });
}

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
  const { path, rows, kept, known, changed, refused, refusals, notices = [], used_by } = file;
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${formatCount(count)}`);
  const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
  const counts = `${formatCount(kept)} stored, ${knownOf(known, changed)}, ${formatCount(refusedRows(file))} rejected${why}`;
  const users = used_by?.length ? `used as the second file of ${used_by.join(', ')}` : NOT_USED;
  return [
    `${cleanLine(path)}: ${used_by === undefined ? `${formatCount(rows)} rows: ${counts}` : cleanLine(users)}`,
    ...refusals.map((reason) => `  rejected: ${cleanLine(reason)}`),
    ...notices.map((text) => `  ${cleanLine(text)}`),
  ];
}

const NOT_USED = 'a second file, which no table beside it uses';

/** Returns a line with the number of stored files, if a file is refused. */
function refusedLine(files: readonly LoadedFile[]): string[] {
  const own = files.filter(({ used_by }) => used_by === undefined);
  const refused = own.filter(({ refusals }) => refusals.length > 0);
  if (refused.length === 0) return [];
  const stored = own.filter(({ kept, known }) => kept + known > 0);
  return [`${stored.length} of ${own.length} ${own.length === 1 ? 'file' : 'files'} stored; ${refused.length} refused`];
}

function totalLine(files: readonly LoadedFile[], totals: ReturnType<typeof totalsOf>): string {
  const { rows, kept, known, changed, refused, seconds, rows_per_second } = totals;
  return `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${formatCount(rows)} rows in ${seconds} s (${formatCount(rows_per_second)} rows/s): ${formatCount(kept)} stored, ${knownOf(known, changed)}, ${formatCount(refused)} rejected`;
}

function knownOf(known: number, changed: number): string {
  return `${formatCount(known)} already known${changed > 0 ? ` (${formatCount(changed)} of them corrected or canceled)` : ''}`;
}

/** Returns whether the file has usable data. A tape without rows is usable, because the trading day may not have begun. */
function hasUsableData({ rows, kept, known, refusals }: LoadedFile): boolean {
  return kept + known > 0 || (rows === 0 && refusals.length === 0);
}

/** Throws an `OperatorError` that names the paths without usable data. Does nothing if `paths` is empty. */
function rejectUnusable(paths: readonly string[]): void {
  if (paths.length === 0) return;
  throw new OperatorError(
    `${paths.join(', ')}: there is no usable market data`,
    'Use prints, chains, closes or dividends, or the file of a vendor (docs/vendors.md), and unpack archives first. `zomma map guess FILE` drafts a mapping.',
  );
}
