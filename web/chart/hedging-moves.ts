import type { FullAnswer } from '../../src/client/client.ts';
import type { ProfileAnswer } from '../data/page-answers.ts';
import { amount, percent, price, signedAmount } from '../page-format.ts';
import { gexCurve, type SpotCurve, valueAt } from '../state/moment-diff.ts';

/** The shares that dealers trade if spot moves by given percentages. */
export type Hedging = FullAnswer<'get_hedging_profile'>;

/** The operation's bounds: the largest move in percent, and the number of moves in one request. */
const MOVE = { most: 50, count: 41 } as const;
/** Steps between two moves, in percent. */
const STEPS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 2.5, 5];

/** Returns round moves of spot, in percent, that cover a range of prices: as many as one request may have. Empty if none is possible. */
export function movesWithin({ zoom, shift }: { readonly zoom: number; readonly shift: number }): number[] {
  const [low, high] = [Math.max(-MOVE.most, shift - zoom), Math.min(MOVE.most, shift + zoom)];
  const step = STEPS.find((each) => Math.ceil(high / each) - Math.floor(low / each) < MOVE.count);
  if (high <= low || step === undefined) return [];
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toFixed(2)));
}

/** Returns the shares that dealers trade until spot is at a price: + buy, - sell. Null if the answer has no moves around the price. */
export function sharesAt(hedging: Hedging | undefined, at: number): number | null {
  const curve = hedging && sharesCurve(hedging);
  return curve && at >= curve.spot[0]! && at <= curve.spot.at(-1)! ? valueAt(curve, at) : null;
}

/** Returns the shares as a curve. At the present spot there is nothing to trade. */
export function sharesCurve({ rows, spot_price }: Hedging): SpotCurve {
  const points = [...rows.filter(({ spot }) => spot !== spot_price), { spot: spot_price, shares: 0 }];
  points.sort((a, b) => a.spot - b.spot);
  return { spot: points.map(({ spot }) => spot), values: points.map(({ shares }) => shares) };
}

/** Indices have no shares. A future on an index hedges its multiplier times as many units. */
const INDICES: ReadonlySet<string> = new Set(['SPX', 'XSP', 'NDX', 'XND', 'RUT', 'DJX', 'VIX', 'OEX', 'XEO']);

/** Returns the unit of what dealers trade: shares, or units of an index. */
export function tradeUnit(ticker: string): string {
  return INDICES.has(ticker) ? 'units' : 'sh';
}

/** A move below this, in percent, is no move. */
const NO_MOVE = 0.005;

/**
 * Returns what dealers trade if spot moves to a price, as text. Each trade has the direction of spot for which it holds. `hedging` has the
 * shares of the whole move, if they are known, and `before` is the profile at moment A of a comparison.
 */
export function profileReadout(profile: ProfileAnswer, at: number, before?: ProfileAnswer, hedging?: Hedging): string {
  const { spot, spot_price, ticker } = profile;
  /** Returns what dealers do as text: `buy 320K sh`. The argument is a number of shares: + buy, - sell. */
  const trade = (shares: number) =>
    Math.round(shares) === 0
      ? 'trade nothing'
      : `${shares > 0 ? 'buy' : 'sell'} ${amount(Math.abs(shares))} ${tradeUnit(ticker)}`;
  const move = 100 * (at / spot_price - 1);
  const to = `${price(at)} (${percent(move, 1)})`;
  if (at < spot[0]! || at > spot.at(-1)!) return `${to}: net gamma is computed for spots up to half of spot away`;
  const gex = valueAt(gexCurve(profile), at);
  const earlier = before && valueAt(gexCurve(before), at);
  /** The shares that dealers trade if spot moves from the price by 1 % in a direction. */
  const further = (direction: number) => trade((direction * -gex) / at);
  const net = `net ${signedAmount(gex)}`;
  const was =
    earlier === undefined
      ? ''
      : ` · A’s book at this spot ${signedAmount(earlier)}, change ${signedAmount(gex - earlier)}`;
  if (Math.abs(move) < NO_MOVE)
    return `spot ${price(at)}: on +1\u00a0% dealers ${further(1)}, on −1\u00a0% they ${further(-1)}${was && ` · ${net}${was}`}`;
  const direction = Math.sign(move);
  const percentage = direction < 0 ? '−1\u00a0%' : '+1\u00a0%';
  const shares = sharesAt(hedging, at);
  return shares === null
    ? `at ${to}: on a further ${percentage} dealers ${further(direction)} · ${net}${was}`
    : `move to ${to}: dealers ${trade(shares)} in all; there ${further(direction)} per further ${percentage}${was}`;
}
