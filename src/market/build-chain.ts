import { Failure } from '../errors.ts';
import { isDate, settlementInstant } from './calendar.ts';
import type { Chain, Series } from './chain.ts';
import { isTicker, rootOf, settlementOf } from './option-symbol.ts';

/** One contract as a feed read it. `NaN` means "not given"; nothing is checked yet. */
export interface ContractRow {
  readonly root: string;
  /** `YYYY-MM-DD` */
  readonly expiry: string;
  /** +1 call, -1 put; anything else refuses the row. */
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
  /** Shares per contract; `NaN` is the usual 100. */
  readonly multiplier: number;
}

export interface ChainHead extends Pick<Chain, 'underlying' | 'asOf' | 'spot' | 'source' | 'simulated'> {
  /** Rows the feed itself refused, by reason. */
  readonly refused?: Readonly<Record<string, number>>;
}

/** The exchange's largest chain, SPX with its weeklies, is 30,000 contracts. */
export const CONTRACTS_MAX = 200_000;
/** `seriesIndex` is a Uint16. */
export const SERIES_MAX = 65_536;
/** OSI has eight digits for thousandths of a dollar. */
export const STRIKE_MAX = 99_999.999;
/** Prices, contracts and shares beyond this are damage, and would let sums overflow. */
export const VALUE_MAX = 1e9;
/** Decimal per year: 10,000 %. */
export const IV_MAX = 100;

/**
 * Checks and orders rows into an immutable chain.
 *
 * What happens to a bad row is decided by field. A root, expiry, side or strike that cannot be refuses the row
 * (`bad_contract`), as does a root of another underlying (`foreign_underlying`); of a contract that comes twice the first
 * counts (`duplicate`). A bid, ask, last, volume, open interest, IV, delta or gamma that cannot be (negative, infinite, beyond
 * the bounds above) becomes "not given" and the row stays (counted under `bad_value`, once a value). An IV of 0 is how feeds
 * write "none". Throws a Failure where no chain can come of it.
 */
export function buildChain(head: ChainHead, rows: Iterable<ContractRow>): Chain {
  if (!isTicker(head.underlying)) throw refusal('the underlying is no ticker');
  if (!(head.spot > 0 && head.spot <= VALUE_MAX)) throw refusal(`spot ${head.spot} is not a price`);
  if (!Number.isFinite(head.asOf)) throw refusal('the time of the quotes is not known');
  const refused: Record<string, number> = { ...head.refused };
  const count = (reason: string) => {
    refused[reason] = (refused[reason] ?? 0) + 1;
  };

  const groups = [...groupBySeries(head.underlying, rows, count).values()];
  if (groups.length === 0) throw refusal('no usable rows', refused);
  if (groups.length > SERIES_MAX) throw refusal(`more than ${SERIES_MAX} series`);
  for (const group of groups) group.rows = inOrder(group.rows, count);
  groups.sort(bySettlement);

  const total = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const columns = emptyColumns(total);
  const series: Series[] = [];
  let row = 0;
  for (const { rows, ...identity } of groups) {
    const start = row;
    for (const contract of rows) {
      columns.seriesIndex[row] = series.length;
      columns.callPut[row] = contract.callPut;
      columns.strike[row] = contract.strike;
      columns.bid[row] = upTo(VALUE_MAX, contract.bid, count);
      columns.ask[row] = upTo(VALUE_MAX, contract.ask, count);
      columns.last[row] = upTo(VALUE_MAX, contract.last, count);
      columns.volume[row] = upTo(VALUE_MAX, contract.volume, count);
      columns.openInterest[row] = upTo(VALUE_MAX, contract.openInterest, count);
      columns.iv[row] = upTo(IV_MAX, contract.iv === 0 ? Number.NaN : contract.iv, count);
      columns.delta[row] = Math.sign(contract.delta) * upTo(1, Math.abs(contract.delta), count);
      columns.gamma[row] = upTo(VALUE_MAX, contract.gamma, count);
      columns.multiplier[row] = upTo(VALUE_MAX, contract.multiplier || Number.NaN, count) || SHARES_USUAL;
      row++;
    }
    series.push({ ...identity, start, end: row });
  }
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
    if (++total > CONTRACTS_MAX) throw refusal(`more than ${CONTRACTS_MAX} contracts`);
    // Tables are laid out series by series.
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
  // Two dates of one root can settle together: a Saturday expiry and the Friday before it.
  return a.settlesAt - b.settlesAt || compare(a.root, b.root) || compare(a.expiry, b.expiry);
}

/** By strike, calls first, each contract once. */
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

function emptyColumns(count: number) {
  const column = () => new Float64Array(count);
  return {
    seriesIndex: new Uint16Array(count),
    callPut: column(),
    strike: column(),
    bid: column(),
    ask: column(),
    last: column(),
    volume: column(),
    openInterest: column(),
    iv: column(),
    delta: column(),
    gamma: column(),
    multiplier: column(),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function refusal(reason: string, refused: Readonly<Record<string, number>> = {}): Failure {
  const counts = Object.entries(refused).map(([why, rows]) => `${rows} ${why}`);
  return new Failure('unprocessable', counts.length === 0 ? reason : `${reason} (${counts.join(', ')})`);
}
