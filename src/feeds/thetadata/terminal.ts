import type { Steps } from '../../core/steps.ts';
import { runInTurns } from '../../core/steps.ts';
import { RowScanner } from '../../math/delimited-rows.ts';
import { baseUrl } from '../http/base-url.ts';
import type { FetchError, ProviderResponse } from '../http/fetch-json.ts';
import { createProviderClient, type ProviderOptions } from '../http/provider-client.ts';
import { unreadable } from '../rejections.ts';

/** Default of `--feed-rate`, requests per minute. Paid plans limit only the requests at the same time, and Zomma sends one at a time. */
export const RATE_PER_MINUTE = 600;

/** A table of the terminal: its path with the query, and the columns that are read. Other columns are ignored. */
export interface TableRequest<Name extends string> {
  readonly address: string;
  readonly columns: readonly Name[];
}

/** Takes a row, and the index of the cell of each column. */
type OnRow<Name extends string> = (row: RowScanner, at: Readonly<Record<Name, number>>) => void;

/** The client of a Theta Terminal, the program that ThetaData's customers run. It answers in CSV, and needs no credential. */
export class Terminal {
  readonly #client: ReturnType<typeof createProviderClient>;

  /** Throws `OperatorError` if the address is unusable. */
  constructor({ baseUrl: text, ratePerMinute = RATE_PER_MINUTE, ...options }: Omit<ProviderOptions, 'tickers'>) {
    const base = baseUrl(text, '--thetadata-url', 'http', false);
    const form = { parse: csvOf, statuses: STATUSES };
    this.#client = createProviderClient(base, { accept: 'text/csv' }, ratePerMinute, options, form);
  }

  /**
   * Requests a table of options, and calls `onRow` for each row. Returns false if the terminal has no data. If a table is too large for the
   * terminal, requests the calls and the puts separately. Throws a `ClientError` if a request fails or the table lacks a column.
   */
  async readTable<Name extends string>(
    table: TableRequest<Name>,
    onRow: OnRow<Name>,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { address, columns } = table;
    const answer = await this.#client.get(address, signal);
    if (answer === NO_DATA) return false;
    if (answer !== TOO_LARGE) {
      await runInTurns(READING.message, rowsOf(answer as Uint8Array, columns, onRow));
      return true;
    }
    if (address.endsWith(CALLS) || address.endsWith(PUTS))
      throw unreadable('the terminal answered 570: even the calls or the puts alone are too many for one request');
    const hasCalls = await this.readTable({ address: address + CALLS, columns }, onRow, signal);
    return (await this.readTable({ address: address + PUTS, columns }, onRow, signal)) || hasCalls;
  }
}

const [CALLS, PUTS] = ['&right=call', '&right=put'];
/** The answers with the status 472 and with the status 570. */
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
function csvOf(body: Uint8Array): ProviderResponse {
  if (WHITESPACE_OR_TAG.test(Buffer.from(body.subarray(0, 100)).toString('latin1')))
    return { kind: 'permanent', reason: 'the terminal answered 200 with a web page in place of CSV' };
  if (body.at(-1) !== LF)
    return { kind: 'temporary', reason: `the answer is incomplete (${body.length} bytes of CSV)` };
  return { kind: 'json', json: body };
}

const WHITESPACE_OR_TAG = /^\s*</;
const LF = 0x0a;
const READING = { message: 'reading market data' };
/** Maximum length of a row, characters. A row of an end-of-day report has some 200. */
const ROW_CHARS_MAX = 4_096;
/** The syntax of a table. Cells may have quotation marks. */
const SYNTAX = { delimiter: ',', linesMax: 1, charsMax: ROW_CHARS_MAX, isRaw: false };

/** Reads the rows below the header. Throws a `ClientError` if a column is missing, or if a row is longer than ROW_CHARS_MAX. */
function* rowsOf<Name extends string>(csv: Uint8Array, columns: readonly Name[], onRow: OnRow<Name>): Steps<void> {
  const row = new RowScanner(SYNTAX);
  let at: Record<Name, number> | undefined;
  for (let from = 0, next = 0; from < csv.length; from = next) {
    if (from > 0) yield READING;
    next = row.scan(csv, from);
    if (next === from)
      throw unreadable(`the answer is unexpected, because a row has more than ${ROW_CHARS_MAX} characters`);
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      if (row.isLong || row.isOpen) throw unreadable('the answer is unexpected, because a row has no end');
      if (at === undefined) at = columnsIn(row, columns);
      else onRow(row, at);
    }
  }
  if (at === undefined) throw unreadable('the answer is unexpected, because it is empty');
}

function columnsIn<Name extends string>(header: RowScanner, columns: readonly Name[]): Record<Name, number> {
  const names = Array.from({ length: header.count }, (_, cell) => header.text(cell).toLowerCase());
  const missing = columns.filter((name) => !names.includes(name));
  if (missing.length > 0) throw unreadable(`the answer is unexpected, because it is missing ${missing.join(', ')}`);
  return Object.fromEntries(columns.map((name) => [name, names.indexOf(name)])) as Record<Name, number>;
}
