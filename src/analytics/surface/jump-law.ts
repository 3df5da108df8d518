import type { Steps } from '../../core/steps.ts';
import { fitSlice } from './fit-slice.ts';
import type { FittedSurface, HorizonLaw, SurfaceSlice } from './fitted-surface.ts';
import { fitJumpDiffusion, type JumpDiffusion, jumpDiffusionLaw, logDensityAtNodes } from './jump-diffusion-law.ts';
import { lognormalLaw, type PriceLaw } from './price-law.ts';
import { rungOf } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';

/** The distribution of the price at a horizon, for a given probability of no jump. */
export interface JumpLaw {
  /** ms since the epoch. */
  readonly endsAt: number;
  readonly horizon: HorizonLaw;
  /** The distribution for all answers: the jump diffusion, adjusted as smoothly as possible to the bid-ask bands. */
  readonly law: PriceLaw;
  /** The jump diffusion without the fit to the bid-ask bands. */
  readonly jumpDiffusion: JumpDiffusion;
  /** The quotes of the nearest settlement, converted to the horizon. Empty if no settlement of the chain determines a smile. */
  readonly quotes: QuoteBands;
  /** The settlement of `quotes`. Undefined if `quotes` is empty. */
  readonly slice: SurfaceSlice | undefined;
}

const NO_QUOTES: QuoteBands = {
  callPut: new Float64Array(0),
  moneyness: new Float64Array(0),
  price: new Float64Array(0),
  halfWidth: new Float64Array(0),
};

/**
 * Returns the price distribution at `endsAt`, in ms since the epoch. `noJump` is the probability of no jump until `endsAt`. If `noJump` is
 * 1, the result is lognormal with the surface's at-the-money variance. Otherwise, Merton's jump diffusion is fitted to the quotes, with
 * -ln(noJump) expected jumps. `fitSlice` then adjusts the fitted density to the bid-ask bands. With dense quotes, the result is almost the
 * same for every `noJump`. With sparse quotes, the result depends on `noJump`.
 */
export function* jumpLawAt(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
  const horizon = surface.lawAt(endsAt);
  const { atmVariance } = horizon;
  const deviation = Math.sqrt(atmVariance);
  const slice = nearestSlice(surface, horizon);
  const quotes = slice ? carriedQuotes(slice, horizon) : NO_QUOTES;
  const common = { endsAt, horizon, quotes, slice };
  if (noJump === 1) {
    const jumpDiffusion = { variance: atmVariance, jumps: 0, mean: 0, width: 0 };
    return { ...common, law: lognormalLaw(atmVariance), jumpDiffusion };
  }
  const jumps = -Math.log(noJump);
  const fitted = slice ? quotes : atTheMoney(atmVariance);
  const jumpDiffusion = fitJumpDiffusion(fitted, atmVariance, jumps);
  const law = jumpDiffusionLaw(jumpDiffusion);
  if (!slice) return { ...common, law, jumpDiffusion };
  yield { message: 'Moving the law to the quotes' };
  const density = fitSlice(quotes, deviation, undefined, undefined, logDensityAtNodes(law, deviation));
  return { ...common, law: rungOf(density, deviation, horizon.years).law, jumpDiffusion };
}

/** Returns the settlement whose at-the-money variance is nearest to the variance of the horizon, by the ratio of the two variances. */
function nearestSlice({ slices }: FittedSurface, { atmVariance }: HorizonLaw): SurfaceSlice | undefined {
  const distance = (slice: SurfaceSlice) => Math.abs(Math.log(slice.atmVariance / atmVariance));
  return slices.toSorted((a, b) => distance(a) - distance(b))[0];
}

/**
 * Converts the quotes of a settlement to a horizon. In the conversion, each strike stays the same number of standard deviations from the
 * forward. The half-width of each band, and the distance of its middle from the surface's price, are multiplied by the ratio of the
 * standard deviations. The quotes do not change if the horizon is the settlement itself.
 */
function carriedQuotes({ quotes, law, atmVariance }: SurfaceSlice, horizon: HorizonLaw): QuoteBands {
  if (law === horizon.law) return quotes;
  const { callPut, moneyness, price, halfWidth } = quotes;
  const scale = Math.sqrt(horizon.atmVariance / atmVariance);
  const carried = moneyness.map((each) => each ** scale);
  return {
    callPut,
    moneyness: carried,
    price: price.map((each, i) => {
      const error = each - law.price(callPut[i]!, moneyness[i]!);
      return horizon.law.price(callPut[i]!, carried[i]!) + scale * error;
    }),
    halfWidth: halfWidth.map((each) => each * scale),
  };
}

/** Returns the quote of one at-the-money call. */
function atTheMoney(atmVariance: number): QuoteBands {
  const price = lognormalLaw(atmVariance).price(1, 1);
  const one = (value: number) => Float64Array.of(value);
  return { callPut: one(1), moneyness: one(1), price: one(price), halfWidth: one(price * 1e-3) };
}
