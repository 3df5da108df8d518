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
  /**
   * The law from which answers are computed: the jump diffusion, moved into the bands of the quotes with the least rough change of its
   * log-density.
   */
  readonly law: PriceLaw;
  /** The jump diffusion alone. */
  readonly jumpDiffusion: JumpDiffusion;
  /** Quotes of the nearest settlement, converted to the horizon. Empty if no settlement of the chain determines a smile. */
  readonly quotes: QuoteBands;
  /** The settlement of these quotes. Undefined if `quotes` is empty. */
  readonly slice: SurfaceSlice | undefined;
}

const NO_QUOTES: QuoteBands = {
  callPut: new Float64Array(0),
  moneyness: new Float64Array(0),
  price: new Float64Array(0),
  halfWidth: new Float64Array(0),
};

/**
 * Returns the law at an instant. `endsAt` is the instant in ms since the epoch, and `noJump` is the probability of no jump until then. If
 * `noJump` is 1, the law is the lognormal with the surface's variance at the money. Otherwise, Merton's jump diffusion with -ln(noJump)
 * expected jumps is fitted to the quotes. The density of the jump diffusion is then moved into the bands of the quotes (`fitSlice`). So
 * where quotes are dense, the law is almost the same for every `noJump`. Where quotes are few, the law depends on `noJump`.
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

/** Returns the settlement whose variance at the money is nearest to the horizon's, by the ratio of both. */
function nearestSlice({ slices }: FittedSurface, { atmVariance }: HorizonLaw): SurfaceSlice | undefined {
  const distance = (slice: SurfaceSlice) => Math.abs(Math.log(slice.atmVariance / atmVariance));
  return slices.toSorted((a, b) => distance(a) - distance(b))[0];
}

/**
 * Converts the quotes of a settlement to a horizon. The distance between strike and forward stays the same number of standard deviations.
 * The distance between the band and the price of the surface is multiplied by the ratio of the standard deviations. If the horizon is the
 * settlement itself, nothing changes.
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

/** Returns a single quote: that of the call with its strike at the forward. */
function atTheMoney(atmVariance: number): QuoteBands {
  const price = lognormalLaw(atmVariance).price(1, 1);
  const one = (value: number) => Float64Array.of(value);
  return { callPut: one(1), moneyness: one(1), price: one(price), halfWidth: one(price * 1e-3) };
}
