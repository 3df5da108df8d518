import { ClientError } from '../core/errors.ts';
import { isDate, settlementInstant } from './calendar.ts';
import { type Chain, emptyChainColumns, type Series } from './chain.ts';
import { isTicker, rootOf, settlementOf } from './option-symbol.ts';

/** A contract from a feed, before its values are checked. `NaN` means "not given". */
export interface ContractRow {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** +1 for a call, -1 for a put. A row with any other value is rejected. */
  readonly callPut: number;
  readonly strike: number;
  readonly bid: number;
  readonly ask: number;
  readonly last: number;
  readonly volume: number;
  readonly openInterest: number;
  readonly iv: number;
  readonly delta: number;
  readonly gamma: number;
  /** Shares per contract. `NaN` means the usual number, 100. */
  readonly multiplier: number;
}

/** The fields of a row that do not identify the contract. */
export type QuoteField = Exclude<keyof ContractRow, 'root' | 'expiry' | 'callPut' | 'strike'>;

/** Builds the row of a contract. `value` returns the value of a field, or NaN if the value is not given. */
export function contractRow(
  { root, expiry, callPut, strike }: Omit<ContractRow, QuoteField>,
  value: (field: QuoteField) => number,
): ContractRow {
  return {
    root,
    expiry,
    callPut,
    strike,
    bid: value('bid'),
    ask: value('ask'),
    last: value('last'),
    volume: value('volume'),
    openInterest: value('openInterest'),
    iv: value('iv'),
    delta: value('delta'),
    gamma: value('gamma'),
    multiplier: value('multiplier'),
  };
}

/** The fields of a chain without its rows. */
export interface ChainHead extends Pick<Chain, 'underlying' | 'asOf' | 'spot' | 'source' | 'simulated'> {
  /** Rows that the feed itself rejected, counted by reason. */
  readonly refused?: Readonly<Record<string, number>>;
}

/** Maximum number of contracts in a chain. The largest chain of an exchange, SPX with its weekly options, has 30,000 contracts. */
export const CONTRACTS_MAX = 200_000;
/** Maximum number of series in a chain. An element of `seriesIndex`, which is a `Uint16Array`, can have this many values. */
export const SERIES_MAX = 65_536;
/** The largest strike, dollars. An OSI symbol writes the strike with eight digits, in thousandths of a dollar. */
export const STRIKE_MAX = 99_999.999;
/** The largest price, number of contracts or number of shares. A larger value is corrupt, and sums of such values would overflow. */
export const VALUE_MAX = 1e9;
/** The largest volatility, decimal per year: 100 is 10,000 %. */
export const IV_MAX = 100;

/**
 * Checks the rows, sorts them, and returns them as an immutable chain. The treatment of a bad value depends on its field:
 * - A row with an impossible expiry, side or strike is rejected (`bad_contract`). A row whose root belongs to another underlying is
 *   rejected too (`foreign_underlying`).
 * - If several rows have the same contract, the chain keeps the first row. The other rows are rejected (`duplicate`).
 * - A bid, ask, last, volume, open interest, IV or gamma is impossible if it is negative, infinite or above its bound: `IV_MAX` for an IV,
 *   `VALUE_MAX` for the others. A delta is impossible if its absolute value is above 1. An impossible value becomes "not given" and is
 *   counted under `bad_value`, but its row is kept.
 * - A multiplier that is negative, infinite or above `VALUE_MAX` becomes 100 and is counted under `bad_value`. A multiplier of 0 becomes
 *   100 and is not counted.
 * - An IV of 0 becomes "not given" and is not counted, because feeds write 0 if they have no IV.
 *
 * Throws `ClientError('unprocessable')` if no chain can be built: the underlying, spot or time of the quotes is invalid, no row is usable,
 * or there are too many contracts or series.
 */
export function buildChain(head: ChainHead, rows: Iterable<ContractRow>): Chain {
  if (!isTicker(head.underlying)) throw unprocessable('the underlying is not a ticker');
  if (!(head.spot > 0 && head.spot <= VALUE_MAX)) throw unprocessable(`spot ${head.spot} is not a price`);
  if (!Number.isFinite(head.asOf)) throw unprocessable('the time of the quotes is not known');
  const refused: Record<string, number> = { ...head.refused };
  const count = (reason: string) => {
    refused[reason] = (refused[reason] ?? 0) + 1;
  };

  const groups = [...groupBySeries(head.underlying, rows, count).values()];
  if (groups.length === 0) throw unprocessable('the chain has no usable rows', refused);
  if (groups.length > SERIES_MAX) throw unprocessable(`the chain has more than ${SERIES_MAX} series`);
  for (const group of groups) group.rows = inOrder(group.rows, count);
  groups.sort(bySettlement);

  const ordered = groups.flatMap((group) => group.rows);
  const total = ordered.length;
  const columns = emptyChainColumns(total);
  const series: Series[] = [];
  for (const { rows, ...identity } of groups) {
    const start = series.at(-1)?.end ?? 0;
    columns.seriesIndex.fill(series.length, start, start + rows.length);
    series.push({ ...identity, start, end: start + rows.length });
  }
  // One loop for each column is faster than one loop for all columns.
  const fill = (column: Float64Array, read: (row: ContractRow) => number) => {
    for (let i = 0; i < total; i++) column[i] = read(ordered[i]!);
  };
  fill(columns.callPut, (row) => row.callPut);
  fill(columns.strike, (row) => row.strike);
  fill(columns.bid, (row) => upTo(VALUE_MAX, row.bid, count));
  fill(columns.ask, (row) => upTo(VALUE_MAX, row.ask, count));
  fill(columns.last, (row) => upTo(VALUE_MAX, row.last, count));
  fill(columns.volume, (row) => upTo(VALUE_MAX, row.volume, count));
  fill(columns.openInterest, (row) => upTo(VALUE_MAX, row.openInterest, count));
  fill(columns.iv, (row) => upTo(IV_MAX, row.iv === 0 ? Number.NaN : row.iv, count));
  fill(columns.delta, (row) => Math.sign(row.delta) * upTo(1, Math.abs(row.delta), count));
  fill(columns.gamma, (row) => upTo(VALUE_MAX, row.gamma, count));
  fill(columns.multiplier, (row) => upTo(VALUE_MAX, row.multiplier || Number.NaN, count) || SHARES_USUAL);
  const { underlying, asOf, spot, source, simulated } = head;
  return { underlying, asOf, spot, source, simulated, count: total, series, ...columns, refused };
}

const SHARES_USUAL = 100;

interface Group extends Omit<Series, 'start' | 'end'> {
  rows: ContractRow[];
}

function groupBySeries(underlying: string, rows: Iterable<ContractRow>, count: (reason: string) => void) {
  const groups = new Map<string, Group>();
  let total = 0;
  let last: Group | undefined;
  for (const row of rows) {
    if (++total > CONTRACTS_MAX) throw unprocessable(`the chain has more than ${CONTRACTS_MAX} contracts`);
    // Most sources list one series after the other, so most rows belong to the same series as the previous row.
    const isSame = last?.root === row.root && last.expiry === row.expiry;
    const key = isSame ? '' : `${row.root} ${row.expiry}`;
    let group: Group | undefined = isSame ? last : groups.get(key);
    if (group === undefined) {
      const root = rootOf(row.root);
      if (root.underlying !== underlying || !isDate(row.expiry)) {
        count(root.underlying !== underlying ? 'foreign_underlying' : 'bad_contract');
        continue;
      }
      group = newGroup(row, root.adjusted);
    }
    if (!(row.strike > 0 && row.strike <= STRIKE_MAX) || (row.callPut !== 1 && row.callPut !== -1)) {
      count('bad_contract');
      continue;
    }
    if (group.rows.push(row) === 1) groups.set(key, group);
    last = group;
  }
  return groups;
}

function newGroup({ root, expiry }: ContractRow, adjusted: boolean): Group {
  const settlement = settlementOf(root);
  return { root, expiry, settlement, settlesAt: settlementInstant(expiry, settlement), adjusted, rows: [] };
}

function bySettlement(a: Group, b: Group): number {
  // Two expiries of one root can have the same settlement instant, for example a Saturday and the preceding Friday.
  return a.settlesAt - b.settlesAt || compare(a.root, b.root) || compare(a.expiry, b.expiry);
}

/** Sorts rows by strike, with calls before puts, and removes duplicates. */
function inOrder(rows: ContractRow[], count: (reason: string) => void): ContractRow[] {
  const sorted = rows.sort((a, b) => a.strike - b.strike || b.callPut - a.callPut);
  return sorted.filter((row, i) => {
    const before = sorted[i - 1];
    if (before === undefined || before.strike !== row.strike || before.callPut !== row.callPut) return true;
    count('duplicate');
    return false;
  });
}

function upTo(max: number, value: number, count: (reason: string) => void): number {
  if (value >= 0 && value <= max) return value;
  if (!Number.isNaN(value)) count('bad_value');
  return Number.NaN;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function unprocessable(reason: string, refused: Readonly<Record<string, number>> = {}): ClientError {
  const counts = Object.entries(refused).map(([why, rows]) => `${rows} ${why}`);
  return new ClientError('unprocessable', counts.length === 0 ? reason : `${reason} (${counts.join(', ')})`);
}
