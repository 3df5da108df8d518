import { shownJson } from '../core/clean-text.ts';
import type { MigrationEvents, MigrationReport } from '../server/migrate-data.ts';
import type { CliCommand } from './cli-command.ts';
import { ProgressBar } from './csv/progress.ts';
import { print } from './csv/streams.ts';
import { formatCount } from './text-format.ts';
import { untilSignal } from './until-signal.ts';

/** Adds `zomma migrate`, which moves the data of a server into a Postgres database, or back. */
export function addMigrate(program: CliCommand): void {
  program
    .command('migrate')
    .description(
      'Copy all data of a data folder into an empty Postgres database for servers with --store, or from there into a new data folder. No server may use either. Afterwards, the rows on both sides are compared. If the command is interrupted, run it again: it goes on. The origin is not changed.',
    )
    .requiredOption('--from <place>', 'data folder, or URL of the Postgres database, with the data')
    .requiredOption('--to <place>', 'URL of the Postgres database, or data folder, to fill')
    .json()
    .settings(['storePassword'])
    .examples(
      'zomma migrate --from /var/lib/zomma --to postgres://zomma@db1,db2/zomma',
      'zomma migrate --from postgres://zomma@db1,db2/zomma --to /var/lib/zomma-alone',
    )
    .action(async ({ from, to, storePassword, json }) => {
      const { migrateData, MigrationDiffers } = await import('../server/migrate-data.ts');
      const startedMs = performance.now();
      try {
        const report = await withBars((events) => migrateData({ from, to, storePassword }, events));
        const seconds = Number(((performance.now() - startedMs) / 1000).toFixed(3));
        if (json) print(shownJson({ ...shownReport(report), seconds }));
        else print(linesOfReport(report, { from, to, seconds }).join('\n'));
      } catch (error) {
        if (error instanceof MigrationDiffers) {
          const differs = { tables: error.tables, bytes: 0, needsSecret: false };
          print(json ? shownJson(shownReport(differs)) : tableLines(error.tables).join('\n'));
        }
        throw error;
      }
    });
}

type Compared = NonNullable<MigrationReport['tables']>;

function shownReport({ tables, bytes, needsSecret }: MigrationReport) {
  return {
    state: tables === undefined ? 'complete_before' : tables.every(({ isEqual }) => isEqual) ? 'complete' : 'differs',
    needs_secret: needsSecret,
    bytes,
    tables: tables?.map(({ table, rows, digests, isEqual }) => {
      const [from, to] = [0, 1].map((i) => ({ rows: rows[i], sha256: digests[i] }));
      return { table, equal: isEqual, from, to };
    }),
  };
}

function linesOfReport(
  { tables, bytes, needsSecret }: MigrationReport,
  { from, to, seconds }: { readonly from: string; readonly to: string; readonly seconds: number },
): string[] {
  const shown = (place: string) => place.replace(/^(postgres(?:ql)?:\/\/[^/@]*?):[^/@]*@/, '$1@');
  const secret = needsSecret
    ? [`The database does not have the secret. Copy the file "secret" of a server into ${to} (mode 600).`]
    : [];
  if (tables === undefined) return [`the migration from ${shown(from)} to ${shown(to)} is complete already`, ...secret];
  const rows = tables.reduce((sum, each) => sum + each.rows[0], 0);
  return [
    ...tableLines(tables),
    `${formatCount(rows)} rows, ${(bytes / 1e6).toFixed(1)} MB in ${seconds} s: both sides are equal`,
    ...secret,
  ];
}

/** Shown digits of a digest. `--json` has all of them. */
const DIGITS = 16;

function tableLines(tables: Compared): string[] {
  const width = Math.max(...tables.map(({ table }) => table.length));
  return tables.map(({ table, rows, digests, isEqual }) => {
    const [from, to] = [0, 1].map((i) => `${formatCount(rows[i]!).padStart(12)}  ${digests[i]!.slice(0, DIGITS)}`);
    return `${table.padEnd(width)}${from}${isEqual ? '' : `  differs:${to}`}`;
  });
}

const LEFT = {
  part: ', after those of an earlier run',
  outdated: ' from the beginning, because the data has changed since an earlier run',
} as const;

/** Runs a migration, with a bar for each of its steps if stderr is a terminal. */
async function withBars<T>(work: (events: MigrationEvents) => Promise<T>): Promise<T> {
  const write = (text: string) => process.stderr.isTTY && process.stderr.write(text);
  let bar: ProgressBar | undefined;
  const interrupted = () => {
    bar?.end();
    return 'before the migration was complete. Run the command again: it goes on.';
  };
  return await untilSignal(interrupted, async () => {
    try {
      return await work({
        onStep(step, left) {
          bar?.end();
          bar = undefined;
          process.stderr.write(`${step} the rows${left ? LEFT[left] : ''}\n`);
        },
        onProgress(bytes, ofBytes, rows) {
          bar ??= new ProgressBar(write, ofBytes, () => performance.now());
          bar.update(bytes, rows);
        },
      });
    } finally {
      bar?.end();
    }
  });
}
