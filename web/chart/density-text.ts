import type { Radar } from '../data/page-answers.ts';
import { cleanText, countText, percent, plain, price, volatility } from '../page-format.ts';
import type { PanelTable } from '../state/panels.ts';
import {
  densityAt,
  densityRange,
  lognormalMixture,
  type PriceMixture,
  probabilitiesAround,
  probabilityBelow,
} from './mixture-density.ts';

/** The prices of the two cursors of the density chart, in dollars. */
export type CursorPair = readonly [a: number, b: number];

const POINTS = 180;

/** Returns the price distribution of the expiry that the Omni Radar analyses. */
export function mixtureOf({ state_density, density_parameters }: Radar): PriceMixture {
  return { forward: state_density.forward, ...density_parameters };
}

/** Returns the lognormal distribution with the at-the-money volatility. */
export function atmLognormal({ state_density: { forward, expected_move } }: Radar): PriceMixture {
  return lognormalMixture(forward, expected_move / forward);
}

const shareOfOne = (share: number) => percent(100 * share, 1, false);

/** Returns a text with the probabilities of a settlement below, between and above the two cursors. */
export function densityReadout(radar: Radar, pair: CursorPair): string {
  const { low, high, below, between, above } = probabilitiesAround(mixtureOf(radar), pair);
  return `below ${price(low)}: ${shareOfOne(below)} · between: ${shareOfOne(between)} · above ${price(high)}: ${shareOfOne(above)}`;
}

/** Returns a text with the lognormal probabilities of a settlement below, between and above the two cursors. */
export function lognormalReadout(radar: Radar, pair: CursorPair): string {
  const { below, between, above } = probabilitiesAround(atmLognormal(radar), pair);
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

/** Returns a table of the density by price. The panel shows this table and exports it as CSV. */
export function densityTable(radar: Radar): PanelTable {
  const [law, flat] = [mixtureOf(radar), atmLognormal(radar)];
  const { low, high } = densityRange(law, []);
  const rows = Array.from({ length: POINTS + 1 }, (_, i) => {
    const at = Math.round(100 * (low + ((high - low) * i) / POINTS)) / 100;
    return [at, densityAt(law, at), probabilityBelow(law, at), densityAt(flat, at), probabilityBelow(flat, at)];
  });
  return {
    columns: ['price', 'density', 'probability_below', 'lognormal_density', 'lognormal_probability_below'],
    rows,
  };
}
