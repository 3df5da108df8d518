import { cleanLine, shownJson } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { isDate } from '../market/calendar.ts';
import type { LoadedDay } from '../market/feed.ts';
import { canonicalTicker, isTicker } from '../market/option-symbol.ts';
import type { Ports } from '../server/cli-ports.ts';
import { type CliCommand, DATA_PLACE } from './cli-command.ts';
import { print } from './csv/streams.ts';
import { formatCount } from './text-format.ts';
import { untilSignal } from './until-signal.ts';

type Flags = Parameters<Ports['loadHistory']>[0] & {
  readonly ticker: string;
  readonly from: string;
  readonly to?: string;
  readonly json?: boolean;
};

/** Adds `zomma ingest thetadata`, which loads past chains. A folder of this name is read as `./thetadata`. */
export function addThetadata(ingest: CliCommand, ports: Ports): void {
  ingest
    .command('thetadata')
    .description(
      "Load the option chains of past closes from ThetaData's terminal: quotes of the end-of-day reports, with the open interest of the day.",
    )
    .requiredOption('--ticker <ticker>', 'ticker of the underlying')
    .requiredOption('--from <date>', 'first day, YYYY-MM-DD')
    .option('--to <date>', 'last day (default: the last day with a report, which exists from 17:30 in New York)')
    .json()
    .settings([...DATA_PLACE, 'dataMax', 'thetadataUrl', 'feedRate'])
    .addHelpText(
      'after',
      `
The subscription must include open interest of options. Days that are stored are skipped, so an interrupted run can be repeated.
A running server computes the levels of the days.`,
    )
    .examples(
      'zomma ingest thetadata --ticker SPY --from 2025-01-02',
      'zomma ingest thetadata --ticker SPX --from 2026-01-02 --to 2026-06-30 --json',
    )
    .action(async (_options, command: CliCommand) => {
      // `zomma ingest` takes the flags that both commands have.
      const { ticker: text, from, to, json, ...settings } = command.optsWithGlobals<Flags>();
      const ticker = canonicalTicker(text);
      if (!isTicker(ticker) || !isDate(from) || (to !== undefined && !isDate(to)))
        throw new OperatorError(
          '--ticker is not a ticker, or --from or --to is not a date',
          'Write dates as 2026-01-31.',
        );
      const days = await withDayProgress((onDay) => ports.loadHistory(settings, { ticker, from, to }, onDay));
      const counts = countsOf(days);
      const rejected = days.filter(({ state }) => state === 'rejected');
      const lines = rejected.map(({ day, reason }) => `${day} rejected: ${cleanLine(reason!)}`);
      print(json ? shownJson({ ticker, days, ...counts }) : [...lines, `${ticker}: ${wordsOf(counts)}`].join('\n'));
      if (counts.stored + counts.known > 0) return;
      throw new OperatorError(
        `no day of ${ticker} has usable data`,
        'Check the ticker, and that the subscription includes the quotes and the open interest of these days.',
      );
    });
}

/** Runs `work`, with a line of progress if stderr is a terminal. If a signal ends the process, prints what is done so far. */
async function withDayProgress<T>(
  work: (onDay: (days: readonly LoadedDay[], count: number) => void) => Promise<T>,
): Promise<T> {
  let done: readonly LoadedDay[] = [];
  const write = (text: string) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${text}`);
  const interrupted = () => {
    write('');
    return `after ${formatCount(done.length)} days. Stored days stay in the store, and another run skips them.`;
  };
  return await untilSignal(interrupted, async () => {
    try {
      return await work((days, count) => {
        done = days;
        write(
          `${days.at(-1)!.day}: day ${formatCount(days.length)} of ${formatCount(count)}: ${wordsOf(countsOf(days))}`,
        );
      });
    } finally {
      write('');
    }
  });
}

function countsOf(days: readonly LoadedDay[]) {
  const count = (state: LoadedDay['state']) => days.filter((each) => each.state === state).length;
  return { stored: count('stored'), known: count('known'), no_data: count('no_data'), rejected: count('rejected') };
}

function wordsOf({ stored, known, no_data, rejected }: ReturnType<typeof countsOf>): string {
  return `${stored} stored, ${known} already known, ${no_data} without data, ${rejected} rejected`;
}
