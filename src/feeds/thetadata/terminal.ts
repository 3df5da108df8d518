import { runInTurns, type Steps } from '../../core/steps.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { baseUrl } from '../http/base-url.ts';
import type { FetchError, ProviderResponse } from '../http/fetch-json.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { numberOf } from '../numbers.ts';
import { unreadable } from '../rejections.ts';

/** Default of `--feed-rate`, requests per minute. Paid plans limit only the requests at the same time, and Zomma sends one at a time. */
export const RATE_PER_MINUTE = 600;

/** A row of a table. Both functions throw a `ClientError` if the table does not have the column. */
export interface TableRow {
  text(column: string): string;
  number(column: string): number;
}

/**
 * Requests a table, and calls `onRow` for each row. Returns false if the terminal has no data. Requests calls and puts separately if the
 * terminal finds the table too large. Throws a `ClientError` if a request fails or the answer is not a table.
 */
export type ReadTable = (
  address: string,
  onRow: (row: TableRow) => void,
  signal: AbortSignal | undefined,
) => Promise<boolean>;

/**
 * Creates the client of a Theta Terminal, the program that ThetaData's customers run. The terminal answers in CSV, and needs no credential.
 * Throws `OperatorError` if the address is unusable.
 */
export function createTerminal(options: Omit<ProviderOptions, 'tickers'>): ReadTable {
  const base = baseUrl(options.baseUrl, '--thetadata-url', 'http', false);
  const { ratePerMinute = RATE_PER_MINUTE } = options;
  const client = createProviderClient(base, { accept: 'text/csv' }, ratePerMinute, options, {
    parse,
    statuses: STATUSES,
  });
  const readTable: ReadTable = async (address, onRow, signal) => {
    const answer = await client.get(address, signal);
    if (answer instanceof Uint8Array) await runInTurns(READING.message, readRows(answer, onRow));
    if (answer !== TOO_LARGE) return answer !== NO_DATA;
    if (address.includes('&right='))
      throw unreadable('the terminal answered 570: even the calls or the puts alone are too many for one request');
    const hasCalls = await readTable(`${address}&right=call`, onRow, signal);
    return (await readTable(`${address}&right=put`, onRow, signal)) || hasCalls;
  };
  return readTable;
}

/** The meanings of the statuses 472 and 570. */
const [NO_DATA, TOO_LARGE] = ['no data', 'too large'];

/** The meanings of the terminal's statuses in the documentation of ThetaData. */
const STATUSES: ReadonlyMap<number, ProviderResponse> = new Map<number, ProviderResponse>([
  [403, failed('permanent', '403: the subscription does not include this data')],
  [470, failed('temporary', '470, a general error')],
  [471, failed('item', '471: the subscription does not include this data')],
  [472, { kind: 'json', json: NO_DATA }],
  [473, failed('item', '473: it does not accept the parameters, which a newer terminal may accept')],
  [474, failed('temporary', '474: it has lost the connection to ThetaData')],
  [476, failed('permanent', '476: use one form of the address, 127.0.0.1 or localhost, for all programs')],
  [478, failed('permanent', '478: another terminal uses the same account')],
  [570, { kind: 'json', json: TOO_LARGE }],
  [571, failed('temporary', '571: the servers of ThetaData are starting')],
]);

function failed(kind: FetchError['kind'], what: string): FetchError {
  return { kind, reason: `the terminal answered ${what}` };
}

/** Returns the body of a table. Each row ends with a line break, so an answer without one at its end is incomplete. */
function parse(body: Uint8Array): ProviderResponse {
  if (body[0] === '<'.charCodeAt(0))
    return { kind: 'permanent', reason: 'the terminal answered 200 with a web page in place of CSV' };
  if (body.at(-1) === '\n'.charCodeAt(0)) return { kind: 'json', json: body };
  return { kind: 'temporary', reason: `the answer is incomplete (${body.length} bytes of CSV)` };
}

const READING = { message: 'reading market data' };
/** The syntax of a table, in which cells may have quotation marks. A row of an end-of-day report has some 200 characters. */
const SYNTAX = { delimiter: ',', linesMax: 1, charsMax: 4_096, isRaw: false };

function* readRows(csv: Uint8Array, onRow: (row: TableRow) => void): Steps<void> {
  const scanner = new RowScanner(SYNTAX);
  const columns = new Map<string, number>();
  const cellOf = (column: string): number => {
    const cell = columns.get(column);
    if (cell === undefined) throw unexpected(`the column ${column} is missing`);
    return cell;
  };
  const row: TableRow = {
    text: (column) => scanner.text(cellOf(column)),
    number: (column) => numberOf(scanner, cellOf(column)),
  };
  let rows = 0;
  for (let from = 0, next = 0; from < csv.length; from = next) {
    if (from > 0) yield READING;
    next = scanner.scan(csv, from);
    for (let i = 0; i < scanner.rows; i++, rows++) {
      scanner.select(i);
      if (scanner.isLong || scanner.isOpen) throw unexpected('a row has no end');
      if (rows > 0) onRow(row);
      else for (let cell = 0; cell < scanner.count; cell++) columns.set(scanner.text(cell), cell);
    }
    if (next === from) throw unexpected('a row has no end');
  }
  if (rows < 2) throw unexpected('it has no rows');
}

function unexpected(why: string) {
  return unreadable(`the answer is unexpected, because ${why}`);
}
