import { changeOf, joinRows, presenceOf } from '../data/joined-rows.ts';
import type { Expiries, GexView, ProfileAnswer, Strikes } from '../data/page-answers.ts';
import type { Call } from '../operations.ts';
import { exchangeHours, isExchangeDay, shiftedDate } from '../time/exchange-days.ts';

/** Returns whether two answers are comparable. The calls of the answers must be equal except for the moment. */
export function isComparable(now: Call, before: Call): boolean {
  const { at: _, ...mine } = now.args;
  const { at: __, ...theirs } = before.args;
  const names = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
  return now.operation === before.operation && [...names].every((name) => mine[name] === theirs[name]);
}

/** The net exposure at one strike at two moments. */
export interface StrikeDifference {
  readonly strike: number;
  readonly now: number | null;
  readonly before: number | null;
  /** The change of the net exposure. Null if only one of the moments has the strike. */
  readonly change: number | null;
  /** Whether the strike is new or gone. Undefined if both moments have the strike. */
  readonly presence: 'new' | 'gone' | undefined;
}

/** Returns the net exposures of two moments for each strike, in ascending order of strikes. */
export function strikeDifferences(
  now: Strikes,
  before: Strikes,
  column: 'net_gex' | 'net_dex' | 'net_vex' | 'net_cex' = 'net_gex',
): StrikeDifference[] {
  return joinRows(now.strike, before.strike)
    .map((row) => ({
      strike: now.strike[row.now ?? -1] ?? before.strike[row.before!]!,
      now: now[column][row.now ?? -1] ?? null,
      before: before[column][row.before ?? -1] ?? null,
      change: changeOf(row, now[column], before[column]),
      presence: presenceOf(row),
    }))
    .toSorted((a, b) => a.strike - b.strike);
}

/** Returns a name for each series: the expiry, the settlement, and the root if the root differs from the ticker. */
function seriesNames({ ticker, root, expiry, settlement }: Expiries): string[] {
  const own = ticker.replace('^', '');
  return expiry.map((date, i) => `${date} ${settlement[i]}${root[i] === own ? '' : ` ${root[i]}`}`);
}

/** The differences between two moments, as names of series and strikes. */
export interface MomentDifference {
  /** Series that settled between the two moments, regardless of which moment is earlier. */
  readonly expired: readonly string[];
  readonly newSeries: readonly string[];
  readonly goneSeries: readonly string[];
  readonly newStrikes: readonly number[];
  readonly goneStrikes: readonly number[];
  /** The strikes whose net gamma changes most, largest change first. */
  readonly largest: readonly { readonly strike: number; readonly change: number }[];
}

const LARGEST = 3;

/** Compares two moments. `nowMs` and `beforeMs` are the times of the quotes in `now` and `before`, in ms since the epoch. */
export function momentDifference(now: GexView, before: GexView, nowMs: number, beforeMs: number): MomentDifference {
  const series = joinRows(seriesNames(now.expiries), seriesNames(before.expiries));
  const strikes = strikeDifferences(now.strikes, before.strikes);
  const [earlier, later] = [Math.min(nowMs, beforeMs), Math.max(nowMs, beforeMs)];
  const isExpired = (name: string) => {
    const settled = settlementMs(name);
    return settled > earlier && settled <= later;
  };
  const oneSided = series.flatMap((row) => {
    const { expiries } = row.now === undefined ? before : now;
    const presence = presenceOf(row);
    return presence ? [{ presence, name: seriesNames(expiries)[row.now ?? row.before!]! }] : [];
  });
  const named = (presence: 'new' | 'gone') =>
    oneSided.filter((row) => row.presence === presence && !isExpired(row.name)).map(({ name }) => name);
  const strikesOf = (presence: 'new' | 'gone') =>
    strikes.filter((row) => row.presence === presence).map(({ strike }) => strike);
  return {
    expired: oneSided.map(({ name }) => name).filter(isExpired),
    newSeries: named('new'),
    goneSeries: named('gone'),
    newStrikes: strikesOf('new'),
    goneStrikes: strikesOf('gone'),
    largest: strikes
      .flatMap(({ strike, change }) => (change ? [{ strike, change }] : []))
      .toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change) || a.strike - b.strike)
      .slice(0, LARGEST),
  };
}

/**
 * Returns the settlement time of a series, in ms since the epoch: the open (AM) or the close (PM) of the expiry. If the exchange is closed
 * on the expiry, the settlement is on the trading day before.
 */
function settlementMs(name: string): number {
  const [expiry, settlement] = name.split(' ') as [string, string];
  let date = expiry;
  while (!isExchangeDay(date)) date = shiftedDate(date, -1);
  const { opens, closes } = exchangeHours(date);
  return settlement === 'AM' ? opens : closes;
}

/** The values of two curves at the same spot price. */
export interface CurvePair {
  readonly spot: number;
  readonly now: number;
  readonly before: number;
}

/** A curve by spot: net gamma, or the shares that dealers trade. Spots are in ascending order. */
export interface SpotCurve {
  readonly spot: readonly number[];
  readonly values: readonly number[];
}

/** Returns the net gamma of a profile as a curve. */
export function gexCurve({ spot, net_gex }: Pick<ProfileAnswer, 'spot' | 'net_gex'>): SpotCurve {
  return { spot, values: net_gex };
}

/** Joins two curves by spot, in ascending order. The result has the spots of both curves within their common range. */
export function curvePairs(now: SpotCurve, before: SpotCurve): CurvePair[] {
  const low = Math.max(now.spot[0] ?? Number.POSITIVE_INFINITY, before.spot[0] ?? Number.POSITIVE_INFINITY);
  const high = Math.min(now.spot.at(-1) ?? 0, before.spot.at(-1) ?? 0);
  const spots = [...new Set([...now.spot, ...before.spot])].filter((spot) => spot >= low && spot <= high);
  return spots
    .toSorted((a, b) => a - b)
    .map((spot) => ({ spot, now: valueAt(now, spot), before: valueAt(before, spot) }));
}

/** Returns the value of a curve at a hypothetical spot price. The function interpolates linearly between two points. */
export function valueAt({ spot, values }: SpotCurve, at: number): number {
  let i = 1;
  while (i < spot.length - 1 && spot[i]! < at) i++;
  const share = (at - spot[i - 1]!) / (spot[i]! - spot[i - 1]!);
  return values[i - 1]! + share * (values[i]! - values[i - 1]!);
}
