import { isDate, settlementInstant } from './calendar.ts';
import { CHAIN_COLUMNS, type Chain, emptyChainColumns, type Series } from './chain.ts';
import {
  assertConsistent,
  assertNumbers,
  assertOpenInterest,
  assertQuotes,
  assertReadable,
  unprocessable,
} from './chain-checks.ts';
import { ContractBatch, type ContractRow, type SeriesNames } from './contract-batch.ts';
import { isTicker, rootOf, settlementOf } from './option-symbol.ts';

/** The fields of a chain without its rows. */
export interface ChainHead extends Pick<Chain, 'underlying' | 'asOf' | 'spot' | 'source' | 'simulated'> {
  /** Rows that the feed itself rejected, counted by reason. */
  readonly refused?: Readonly<Record<string, number>>;
  /** Of these rows, the number that states another underlying, so that the chain is whole without them. */
  readonly elsewhere?: number;
}

type AnyContracts = ContractBatch | Iterable<ContractRow>;

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
 * Checks the given rows of contracts, or all, sorts them, and returns them as an immutable chain. The treatment of a bad value depends on its field:
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
 * more than a tenth of the rows cannot be read or contradict each other, open interest is impossible, calls and puts are swapped, or there are
 * too many contracts or series.
 */
export function buildChain(head: ChainHead, contracts: AnyContracts, rows?: readonly number[]): Chain {
  if (!isTicker(head.underlying)) throw unprocessable('the underlying is not a ticker');
  if (Number.isNaN(head.spot)) throw unprocessable('spot is not given, and the quotes imply none');
  if (!(head.spot > 0 && head.spot <= VALUE_MAX)) throw unprocessable(`spot ${head.spot} is not a price`);
  if (!Number.isFinite(head.asOf)) throw unprocessable('the time of the quotes is not known');
  if (!(contracts instanceof ContractBatch)) {
    using converted = ContractBatch.of(contracts, CONTRACTS_MAX);
    return buildChain(head, converted);
  }
  const refused: Record<string, number> = { ...head.refused };
  const count: Count = (reason) => {
    refused[reason] = (refused[reason] ?? 0) + 1;
  };

  const groups = groupBySeries(head.underlying, contracts, rows ?? contracts.rows, count);
  if (groups.length === 0) throw unprocessable('the chain has no usable rows', refused);
  if (groups.length > SERIES_MAX) throw unprocessable(`the chain has more than ${SERIES_MAX} series`);
  groups.sort(bySettlement);

  const order: number[] = [];
  const series: Series[] = [];
  let [duplicates, contradicting] = [0, 0];
  const addDuplicate = (before: number, row: number) => {
    duplicates++;
    contradicting += Number(
      COMPARED.some((name) => !isSame(contracts.columns[name][before]!, contracts.columns[name][row]!)),
    );
  };
  for (const group of groups) {
    const start = order.length;
    addInOrder(order, group, contracts, addDuplicate);
    const { calls, puts, ...identity } = group;
    series.push({ ...identity, start, end: order.length });
  }
  const total = order.length;
  if (duplicates > 0) refused.duplicate = (refused.duplicate ?? 0) + duplicates;
  assertReadable(refused, total + duplicates, head.elsewhere);
  assertConsistent(contradicting, total + duplicates);
  const columns = emptyChainColumns(total);
  for (const [i, { start, end }] of series.entries()) columns.seriesIndex.fill(i, start, end);
  // One loop for each column is faster than one loop for all columns.
  for (const name of CHAIN_COLUMNS) {
    const [from, to] = [contracts.columns[name], columns[name]];
    const [min, max] = BOUNDS[name] ?? [0, VALUE_MAX];
    let [bad, garbled] = [0, 0];
    for (let i = 0; i < total; i++) {
      const value = from[order[i]!]!;
      const isPossible = value >= min && value <= max;
      to[i] = isPossible ? value : Number.NaN;
      if (isPossible || Number.isNaN(value)) continue;
      count('bad_value');
      bad++;
      if (value === Number.POSITIVE_INFINITY) garbled++;
    }
    if (name === 'bid' || name === 'ask') assertNumbers(name, garbled, total, refused);
    if (name === 'openInterest') assertOpenInterest(to, bad, refused);
  }
  replaceZeros(columns.iv, Number.NaN);
  replaceZeros(columns.multiplier, SHARES_USUAL);
  const { underlying, asOf, spot, source, simulated } = head;
  const chain = { underlying, asOf, spot, source, simulated, count: total, series, ...columns };
  assertQuotes(chain);
  return { ...chain, refused };
}

type Count = (reason: string) => void;

const SHARES_USUAL = 100;
const BOUNDS: { readonly [column: string]: readonly [min: number, max: number] } = {
  callPut: [-1, 1],
  delta: [-1, 1],
  iv: [0, IV_MAX],
};

interface Group extends Omit<Series, 'start' | 'end'> {
  /** The rows of the calls. */
  readonly calls: number[];
  readonly puts: number[];
}

/** Returns the series that have usable rows. */
function groupBySeries(underlying: string, contracts: ContractBatch, rows: readonly number[], count: Count): Group[] {
  const {
    series,
    columns: { callPut, strike },
  } = contracts;
  if (rows.length > CONTRACTS_MAX) throw unprocessable(`the chain has more than ${CONTRACTS_MAX} contracts`);
  /** By root and expiry: the group, or why its rows are rejected. */
  const groups = new Map<string, Group | string>();
  let group: Group | string = '';
  let last: SeriesNames | undefined;
  for (const row of rows) {
    const names = series[row]!;
    // Most sources list one series after the other, so most rows belong to the same series as the previous row.
    if (names !== last && !(names.root === last?.root && names.expiry === last.expiry))
      group = groups.getOrInsertComputed(`${names.root} ${names.expiry}`, () => newGroup(underlying, names));
    last = names;
    const side = callPut[row];
    if (typeof group === 'string') count(group);
    else if (!(strike[row]! > 0 && strike[row]! <= STRIKE_MAX) || (side !== 1 && side !== -1)) count('bad_contract');
    else (side === 1 ? group.calls : group.puts).push(row);
  }
  return [...groups.values()].filter(
    (each) => typeof each !== 'string' && each.calls.length + each.puts.length > 0,
  ) as Group[];
}

/** Returns an empty group, or why its rows are rejected. */
function newGroup(underlying: string, { root, expiry }: SeriesNames): Group | string {
  const { underlying: own, adjusted } = rootOf(root);
  if (own !== underlying) return 'foreign_underlying';
  if (!isDate(expiry)) return 'bad_contract';
  const settlement = settlementOf(root);
  return { root, expiry, settlement, settlesAt: settlementInstant(expiry, settlement), adjusted, calls: [], puts: [] };
}

function bySettlement(a: Group, b: Group): number {
  // Two expiries of one root can have the same settlement instant, for example a Saturday and the preceding Friday.
  return a.settlesAt - b.settlesAt || compare(a.root, b.root) || compare(a.expiry, b.expiry);
}

/** The columns that are equal in rows that only repeat a contract. */
const COMPARED = ['bid', 'ask', 'openInterest'] as const;

/** Adds the rows of a series to `order`: by strike, with calls before puts, and without duplicates, which are passed to `addDuplicate`. */
function addInOrder(
  order: number[],
  { calls, puts }: Group,
  { columns: { strike } }: ContractBatch,
  addDuplicate: (before: number, row: number) => void,
): void {
  const add = (rows: readonly number[], i: number) => {
    const [before, row] = [rows[i - 1]!, rows[i]!];
    if (strike[row] === strike[before]) addDuplicate(before, row);
    else order.push(row);
  };
  // Most sources list the calls by strike, and the puts by strike.
  for (const rows of [calls, puts])
    if (rows.some((row, i) => strike[row]! < strike[rows[i - 1]!]!)) rows.sort((a, b) => strike[a]! - strike[b]!);
  let put = 0;
  for (let call = 0; call <= calls.length; call++) {
    while (put < puts.length && !(strike[puts[put]!]! >= strike[calls[call]!]!)) add(puts, put++);
    if (call < calls.length) add(calls, call);
  }
}

/** Replaces 0 and NaN. */
function replaceZeros(column: Float64Array, by: number): void {
  for (let i = 0; i < column.length; i++) if (!(column[i]! > 0)) column[i] = by;
}

function isSame(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
