import { ClientError, OperatorError } from '../../core/errors.ts';
import { addDays, closeOf, isTradingDay, newYorkDate, newYorkInstant } from '../../market/calendar.ts';
import type { LoadedDay } from '../../market/feed.ts';
import { acceptDelivery, type IngestLedger } from '../accept-delivery.ts';
import { SYSTEM_CLOCK } from '../clock.ts';
import type { DiskSpace } from '../disk-space.ts';
import type { ProviderOptions } from '../http/provider-client.ts';
import { unreadable } from '../rejections.ts';
import { joinTables } from './join-tables.ts';
import { createTerminal } from './terminal.ts';

/** The days of a ticker that are loaded, `YYYY-MM-DD`, both included. Without `to`, the last day with a report. */
export interface HistoryRequest {
  readonly ticker: string;
  readonly from: string;
  readonly to?: string | undefined;
}

export interface HistoryDeps extends Omit<ProviderOptions, 'tickers'> {
  readonly store: IngestLedger;
  readonly room?: DiskSpace;
  /** Called after each day with the results so far, and the number of days. */
  readonly onDay: (days: readonly LoadedDay[], count: number) => void;
}

/**
 * Loads the chains of past closes from the terminal's end-of-day reports, each in one transaction, and skips days that are stored. Throws
 * `OperatorError` if no day of the period has a report, if the data folder is full, or if a request fails. What was loaded stays.
 */
export async function loadHistory({ ticker, from, to }: HistoryRequest, deps: HistoryDeps): Promise<LoadedDay[]> {
  const { store, room, onDay, clock = SYSTEM_CLOCK } = deps;
  const readTable = createTerminal({ timeoutMs: TIMEOUT_MS, ...deps });
  const days = daysWithReport(from, to, clock.now());
  if (days.length === 0)
    throw new OperatorError('the period has no trading day with a report', 'Give an earlier --from, or a later --to.');

  const load = async (day: string): Promise<Omit<LoadedDay, 'day'>> => {
    const asOf = closeOf(day);
    if (store.snapshotsAround(ticker, false, asOf, asOf).before === asOf) return { state: 'known', contracts: 0 };
    const fullReason = room?.fullReason();
    if (fullReason !== undefined) throw new OperatorError(fullReason, 'Free some space, or raise --data-max.');
    const headOf = async (times: readonly string[]) => {
      if (times.every((time) => time.startsWith(day))) return { asOf };
      throw unreadable('the report has another day');
    };
    try {
      const snapshot = await joinTables(readTable, ticker, reportsOf(day), headOf);
      if (snapshot === undefined) return { state: 'no_data', contracts: 0 };
      const { delivery } = await store.write((tx) => acceptDelivery({ kind: 'chain', ...snapshot }, tx, clock.now()));
      if (delivery.kind !== 'rejection') return { state: 'stored', contracts: snapshot.chain.count };
      return { state: 'rejected', contracts: 0, reason: delivery.reason };
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      if (error.code === 'unprocessable') return { state: 'rejected', contracts: 0, reason: error.message };
      throw new OperatorError(`${day}: ${error.message}`, FAILED_HINT, { cause: error });
    }
  };

  const results: LoadedDay[] = [];
  for (const day of days) {
    results.push({ day, ...(await load(day)) });
    onDay(results, days.length);
  }
  return results;
}

const FAILED_HINT =
  'Check that the Theta Terminal runs, and that the subscription includes these days. Then run the command again: stored days are skipped.';
/** Maximum duration of a request, ms. Reports from the archive of ThetaData take longer than snapshots. */
const TIMEOUT_MS = 120_000;
/** ThetaData writes the reports of a day from 17:15 in New York on, in some minutes. */
const REPORT_TIME = '17:30';

/** Returns the trading days of a period whose reports exist. */
function daysWithReport(from: string, to: string | undefined, nowMs: number): string[] {
  const today = newYorkDate(nowMs);
  const last = nowMs < newYorkInstant(today, REPORT_TIME) ? addDays(today, -1) : today;
  const days: string[] = [];
  for (let day = from; day <= last && day <= (to ?? last); day = addDays(day, 1)) if (isTradingDay(day)) days.push(day);
  return days;
}

/** The reports of a day. A request for all expirations can have only one day. The open interest is that of the morning. */
function reportsOf(day: string) {
  const date = day.replaceAll('-', '');
  const [eod, interest] = [`&start_date=${date}&end_date=${date}`, `&date=${date}`];
  const values = { bid: 'bid', ask: 'ask', last: 'close', volume: 'volume' };
  const openInterest = { openInterest: 'open_interest' };
  return {
    quotes: { path: '/v3/option/history/eod', query: eod, time: 'created', values },
    openInterest: { path: '/v3/option/history/open_interest', query: interest, values: openInterest },
  };
}
