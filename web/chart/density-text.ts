import { bisectRight } from 'd3-array';
import type { Radar } from '../data/page-answers.ts';
import { cleanText, countText, percent, plain, price, volatility } from '../page-format.ts';

/** The prices of the two cursors of the density chart, in dollars. */
export type CursorPair = readonly [a: number, b: number];

/**
 * Returns the probability that the underlying settles below a price, from one of the distributions of the curve. Between two prices of the
 * curve, it is the cubic whose slopes are the densities. Its error is far below the printed precision.
 */
function probabilityBelow({ density_curve: curve }: Radar, of: '' | 'lognormal_', price: number): number {
  const [below, density] = [curve[`${of}probability_below`], curve[`${of}density`]];
  const at = Math.min(Math.max(price, curve.price[0]!), curve.price.at(-1)!);
  const i = Math.min(bisectRight(curve.price, at), below.length - 1);
  const [from, to] = [below[i - 1]!, below[i]!];
  const step = curve.price[i]! - curve.price[i - 1]!;
  const share = (at - curve.price[i - 1]!) / step;
  const bend = (step * density[i - 1]! - to + from) * (1 - share) + (to - from - step * density[i]!) * share;
  return from + share * (to - from + (1 - share) * bend);
}

/** Returns the probabilities of a settlement below two prices, between them, and above them. */
function probabilitiesAround(radar: Radar, of: '' | 'lognormal_', [a, b]: CursorPair) {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const [below, belowHigh] = [probabilityBelow(radar, of, low), probabilityBelow(radar, of, high)];
  return { low, high, below, between: belowHigh - below, above: 1 - belowHigh };
}

const shareOfOne = (share: number) => percent(100 * share, 1, false);

/** Returns a text with the probabilities of a settlement below, between and above the two cursors. */
export function densityReadout(radar: Radar, pair: CursorPair): string {
  const { low, high, below, between, above } = probabilitiesAround(radar, '', pair);
  return `below ${price(low)}: ${shareOfOne(below)} · between: ${shareOfOne(between)} · above ${price(high)}: ${shareOfOne(above)}`;
}

/** Returns a text with the lognormal probabilities of a settlement below, between and above the two cursors. */
export function lognormalReadout(radar: Radar, pair: CursorPair): string {
  const { below, between, above } = probabilitiesAround(radar, 'lognormal_', pair);
  return `below ${shareOfOne(below)}, between ${shareOfOne(between)}, above ${shareOfOne(above)}`;
}

/** Returns a sentence on how well the density fits the quotes. */
export function fitSentence({ fit_error, strikes_fitted }: Radar['state_density']): string {
  return strikes_fitted === 0
    ? 'The expiry has too few quotes: its density is interpolated between other expiries.'
    : `Fit error ${plain(fit_error, 2)} vol points over ${countText(strikes_fitted)} strikes.`;
}

/** Returns one sentence with the main figures of the density, for screen readers. */
export function describeDensity({ ticker, state_density: density, spot_price }: Radar): string {
  const { p05, p95 } = density.quantiles as Readonly<Record<string, number>>;
  return (
    `${cleanText(ticker)} at ${price(spot_price)}: on ${cleanText(density.expiry)}, in ${countText(density.days_to_expiry)} days, the options price ` +
    `a settlement between ${price(p05)} and ${price(p95)} with a probability of 90 %, most likely at ${price(density.mode)}; ` +
    `volatility at the money ${volatility(density.atm_iv)}. ${fitSentence(density)}`
  );
}
