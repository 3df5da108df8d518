import { ExposureColumn } from '../../../assembly/columns.ts';
import { recordOf } from '../../core/record-of.ts';
import { DAY_MS, YEAR_MS } from '../../market/calendar.ts';
import { type CashDividend, exInstant } from '../../market/cash-dividend.ts';
import { arenaColumn, keepArena } from '../../math/kernels.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { firstAtLeast } from './strike-index.ts';

/** One calendar day, in years. */
const DAY = DAY_MS / YEAR_MS;
/** The minimum divisor of `hedgeYield`, years. Near settlement, dividends and noise dominate a total yield that does not shrink. */
const CARRY_TIME_MIN = 30 * DAY;
/** The maximum present value of the known dividends, as a share of spot. A larger present value comes from damaged data. */
const KNOWN_SHARE_MAX = 0.75;

/** Names of the inputs of `hedges` that all contracts of a series share. */
export const SERIES_INPUTS = ['carry', 'factor', 'laterTte', 'laterFactor'] as const;

/** Inputs for the change of a series' deltas over the coming calendar day, or until an earlier settlement, if the forward stays the same. */
export interface DayAhead extends Readonly<Record<(typeof SERIES_INPUTS)[number], number>> {
  /** The continuous yield at which a forward's delta grows over the day, decimal per year. */
  readonly hedgeYield: number;
}

/** Returns the inputs for the change of deltas over the coming day, for each series of a prepared chain. */
export function dayAheadOf({ chain, series, options }: PreparedChain): DayAhead[] {
  return series.map((each) => {
    const { tte, rate, dividend } = each;
    const paid = Math.min(presentValue(options.cashDividends, each, chain.asOf) / chain.spot, KNOWN_SHARE_MAX);
    // Known cash dividends are excluded, because they do not change the number of shares that hedge a forward.
    const hedgeYield = (dividend * tte + Math.log1p(-paid)) / Math.max(tte, CARRY_TIME_MIN);
    const factor = Math.exp(-dividend * tte);
    const { day, left } = timesOf(tte);
    return {
      hedgeYield,
      carry: (rate - dividend) * tte,
      factor,
      laterTte: left,
      laterFactor: factor * Math.exp(hedgeYield * day),
    };
  });
}

/** Returns how much of the time to settlement the coming day takes, and what is left after it, years. */
export function timesOf(tte: number): { readonly day: number; readonly left: number } {
  return { day: Math.min(tte, DAY), left: Math.max(0, tte - DAY) };
}

/** Returns whether a series settles within two days, so that after the coming day less time is left than the day itself. */
export function isNear({ tte }: Pick<PreparedSeries, 'tte'>): boolean {
  return tte < 2 * DAY;
}

/**
 * Returns whether a strike is open: nearer to the forward than one standard deviation over the part of the coming day that lies within the last
 * day before settlement. Whether the delta goes to 0 or to 1 is then open, so that the contract has no drift. At less than a day, this part is
 * the whole time to settlement; from two days on, it is empty. `moneyness` is ln(F/K), `iv` decimal per year.
 */
export function isOpenStrike(moneyness: number, iv: number, series: Pick<PreparedSeries, 'tte'>): boolean {
  return isNear(series) && Math.abs(moneyness) < iv * Math.sqrt(Math.min(series.tte, 2 * DAY - series.tte));
}

/** Returns the number of contracts of the dealers' book without a drift (see `isOpenStrike`), which charm exposures leave out. */
export function countOpenStrikes({ series, strike, iv, position }: PreparedChain): number {
  let count = 0;
  for (const each of series) {
    if (!isNear(each)) break;
    for (let row = each.start; row < each.end; row++) {
      if (position[row] !== 0 && isOpenStrike(Math.log(each.forward / strike[row]!), iv[row]!, each)) count++;
    }
  }
  return count;
}

/** Returns the dividends with an ex-date instant after `asOf` and at or before `settlesAt`, both in ms since the epoch. */
export function dividendsBefore(
  dividends: readonly CashDividend[],
  settlesAt: number,
  asOf: number,
): readonly CashDividend[] {
  return dividends.filter(({ exDate }) => {
    const at = exInstant(exDate);
    return at > asOf && at <= settlesAt;
  });
}

function presentValue(dividends: readonly CashDividend[], { series, rate }: PreparedSeries, asOf: number): number {
  return dividendsBefore(dividends, series.settlesAt, asOf).reduce((sum, { exDate, amount }) => {
    return sum + amount * Math.exp((-rate * (exInstant(exDate) - asOf)) / YEAR_MS);
  }, 0);
}

const CONTRACT_COLUMNS = ['position', 'multiplier'] as const;
const PAIR_COLUMNS = ['strike', 'iv', 'tte'] as const;
/** The columns of pairs in the kernels' memory. */
export const PAIR_ARENA = recordOf(
  [...CONTRACT_COLUMNS, ...PAIR_COLUMNS, ...SERIES_INPUTS, 'side', 'callPut', 'delta', 'vanna', 'change'] as const,
  (name) => arenaColumn(ExposureColumn[name]),
);
const CONTRACTS = new Uint32Array(PAIR_ARENA.side.buffer, arenaColumn(ExposureColumn.contracts).byteOffset);

/**
 * Copies the pairs [from, to), at most `PAIRS_MAX`, into the kernels' memory, unless this memory still has those of the last call with
 * `block`. `ahead` has one element for each series. At `spot`, the deltas of open strikes (see `isOpenStrike`) do not change.
 */
export function loadPairs(
  block: object,
  prepared: PreparedChain,
  ahead: readonly DayAhead[],
  from: number,
  to: number,
  spot: number,
): void {
  if (!keepArena(block)) copyPairs(prepared, ahead, from, to);
  const { pairs, series, seriesIndex } = prepared;
  for (let pair = from; pair < to; pair++) {
    const index = seriesIndex[pairs.contracts[pair]!]!;
    const { carry, factor, laterTte, laterFactor } = ahead[index]!;
    // Series are in order of settlement.
    if (!isNear(series[index]!)) return;
    const isOpen = isOpenStrike(Math.log(spot / pairs.strike[pair]!) + carry, pairs.iv[pair]!, series[index]!);
    PAIR_ARENA.laterTte[pair - from] = isOpen ? -1 : laterTte;
    PAIR_ARENA.laterFactor[pair - from] = isOpen ? factor : laterFactor;
  }
}

function copyPairs(prepared: PreparedChain, ahead: readonly DayAhead[], from: number, to: number): void {
  const { pairs, series, seriesIndex, callPut } = prepared;
  const { contracts } = pairs;
  const [start, end] = [contracts[from]!, contracts[to]!];
  for (const name of CONTRACT_COLUMNS) PAIR_ARENA[name].set(prepared[name].subarray(start, end));
  for (const name of PAIR_COLUMNS) PAIR_ARENA[name].set(pairs[name].subarray(from, to));
  PAIR_ARENA.side.set(callPut.subarray(start, end));
  CONTRACTS.set(contracts.subarray(from, to + 1));
  for (let pair = from, index = seriesIndex[start]!; pair < to; index++) {
    const next = firstAtLeast(contracts, series[index]!.end, pair, to);
    for (const name of SERIES_INPUTS) PAIR_ARENA[name].fill(ahead[index]![name], pair - from, next - from);
    pair = next;
  }
}
