import { runToCompletion, type Steps } from '../../steps.ts';
import { fitSlice } from './fit-slice.ts';
import type { FittedSurface, HorizonLaw, SurfaceSlice } from './fitted-surface.ts';
import { fitJumpDiffusion, type JumpDiffusion, jumpDiffusionLaw, logDensityAtNodes } from './jump-diffusion-law.ts';
import { lognormalLaw, type PriceLaw } from './price-law.ts';
import { rungOf } from './rungs.ts';
import type { QuoteBands } from './slice-model.ts';

/** One distribution of the price at a horizon, for a given probability of no jump. */
export interface JumpLaw {
  /** ms since the epoch. */
  readonly endsAt: number;
  readonly horizon: HorizonLaw;
  /** The law that answers: the jump diffusion, moved to the quotes with the least change of its log-density. */
  readonly law: PriceLaw;
  /** The jump diffusion alone. */
  readonly jumpDiffusion: JumpDiffusion;
  /** Quotes of the nearest settlement, carried to the horizon. Empty if no settlement of the chain determines a smile. */
  readonly quotes: QuoteBands;
  /** The settlement of these quotes. Undefined if there is none. */
  readonly slice: SurfaceSlice | undefined;
}

const NO_QUOTES: QuoteBands = {
  callPut: new Float64Array(0),
  moneyness: new Float64Array(0),
  price: new Float64Array(0),
  halfWidth: new Float64Array(0),
};

/**
 * Returns the law at an instant. With `noJump` = 1 it is the lognormal with the surface's variance at the money. Otherwise it comes from
 * Merton's jump diffusion with -ln(noJump) expected jumps, fitted to the quotes, which is then moved into their bands (`fitSlice`). So dense
 * quotes determine the law for every `noJump`, and `noJump` decides where quotes are few.
 */
export function jumpLawAt(surface: FittedSurface, endsAt: number, noJump: number): JumpLaw {
  return runToCompletion(jumpLawInSteps(surface, endsAt, noJump));
}

/** The same in steps. */
export function* jumpLawInSteps(surface: FittedSurface, endsAt: number, noJump: number): Steps<JumpLaw> {
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

/** The settlement whose variance is the nearest in proportion. */
function nearestSlice({ slices }: FittedSurface, { atmVariance }: HorizonLaw): SurfaceSlice | undefined {
  const distance = (slice: SurfaceSlice) => Math.abs(Math.log(slice.atmVariance / atmVariance));
  return slices.toSorted((a, b) => distance(a) - distance(b))[0];
}

/**
 * Carries the quotes of a settlement along the surface to a horizon: a quote keeps its distance from the forward in standard deviations, and the
 * distance of its band from the surface, in proportion to the deviation. At the settlement itself nothing changes.
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

/** The price at the forward, as the only quote. */
function atTheMoney(atmVariance: number): QuoteBands {
  const price = lognormalLaw(atmVariance).price(1, 1);
  const one = (value: number) => Float64Array.of(value);
  return { callPut: one(1), moneyness: one(1), price: one(price), halfWidth: one(price * 1e-3) };
}
