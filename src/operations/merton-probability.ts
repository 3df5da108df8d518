import { Type } from '@sinclair/typebox';
import { densityProbability } from '../analytics/density/density-probability.ts';
import { jumpProbability } from '../analytics/density/jump-probability.ts';
import { jumpSizesInSteps } from '../analytics/density/jump-sizes.ts';
import { fitDensitiesAround, surfaceOf } from '../analytics/density/surface.ts';
import { touchInSteps } from '../analytics/density/touch-probability.ts';
import { ClientError } from '../errors.ts';
import { closeOf, DAY_MS, isTradingDay, newYorkDate, YEAR_MS } from '../market/calendar.ts';
import { provenanceOf, readMarket } from './market-reading.ts';
import { defineOperation } from './operation.ts';
import { defaulted, nullable, number, oneOf, priceField, ticker } from './schemas.ts';

const DAYS_MAX = 3650;

export const calculateMertonProbability = defineOperation({
  name: 'calculate_merton_probability',
  ofMarket: true,
  title: 'Jump probability',
  description:
    "Risk-neutral probability that a ticker's price ends beyond a strike: at or above it if the strike is at or above spot, at or " +
    "below it if the strike is below spot. Merton's jump diffusion with the variance of the ticker's volatility smile.",
  example: { ticker: 'NVDA', spot_price: 215, ambush_strike: 225, days_to_expiry: 7 },
  input: Type.Object(
    {
      ticker,
      spot_price: priceField('Spot to start from, dollars; get_live_gex_nodes has the present spot.'),
      ambush_strike: priceField('Strike to end beyond, dollars.'),
      stag_prob: defaulted(
        number('Probability of no jump before expiry, 0.001 to 1; 1 is a plain diffusion.', {
          minimum: 0.001,
          maximum: 1,
        }),
        0.5,
      ),
      days_to_expiry: defaulted(
        Type.Integer({
          description: "Calendar days to expiry; 0 is until the close of the snapshot's day.",
          minimum: 0,
          maximum: DAYS_MAX,
        }),
        1,
      ),
    },
    { additionalProperties: false },
  ),
  full: Type.Object(
    {
      ticker: Type.String({ description: 'Underlying symbol.' }),
      ambush_strike: number('Strike, dollars.'),
      merton_probability: number('Probability of ending beyond the strike, 0 to 1.', { minimum: 0, maximum: 1 }),
      touch_probability: number('Probability of touching the strike at any time before expiry, 0 to 1.', {
        minimum: 0,
        maximum: 1,
      }),
      density_probability: nullable(
        Type.Number(),
        'Probability of ending beyond the strike by the densities fitted to the listed expiries, 0 to 1; null if the time is outside ' +
          'the listed expiries.',
      ),
      density_fit_error: nullable(
        Type.Number(),
        'Root mean square error of the density fit near the money, vol points; null if density_probability is null.',
      ),
      direction: Type.String({
        description: 'at_or_above or at_or_below: where the price ends, relative to the strike.',
      }),
      tte: number('Time to expiry in the computation, years.'),
      implied_volatility: number("Volatility of the ticker's smile at this strike and time, decimal per year."),
      diffusion_volatility: number('Volatility of the diffusion alone, decimal per year.'),
      jump_intensity: number('Jumps per year.'),
      jump_mean: number('Mean of the log-jump, after scaling.'),
      jump_vol: number('Standard deviation of the log-jump, after scaling.'),
      jump_scale: number(
        "Factor on the ticker's jump sizes. Jumps scale with the volatility at the strike and take at most three quarters of its variance.",
      ),
      jump_sizes: oneOf(
        ['fitted', 'default'],
        "fitted: jump sizes from a fit to the ticker's options; default: too few options for a fit.",
      ),
      jump_mean_unscaled: number('Mean of the log-jump, before scaling.'),
      jump_vol_unscaled: number('Standard deviation of the log-jump, before scaling.'),
      jump_fit_error: nullable(
        Type.Number(),
        'Root mean square error of the fit of jump sizes, vol points; null if jump_sizes is default.',
      ),
      jump_fit_points: Type.Integer({
        description: 'Number of strikes for the fit of jump sizes; too few if jump_sizes is default.',
      }),
      rate: number('Discount rate, continuous, decimal per year.'),
      dividend: number('Yield that carries spot to its forward, continuous, decimal per year.'),
    },
    { additionalProperties: false },
  ),
  tool: { answers: ['ticker', 'ambush_strike', 'merton_probability'] },
  *run(input, context, isWanted) {
    const { chain, prepared } = yield* readMarket(input.ticker, context);
    const surface = surfaceOf(prepared);
    if (!surface) {
      throw new ClientError('unprocessable', `No option of ${chain.underlying} has a volatility to compute with`, {
        hint: 'Load a snapshot with usable quotes or implied volatilities.',
      });
    }
    const jumps = yield* jumpSizesInSteps(prepared);
    const tte = input.days_to_expiry === 0 ? yearsUntilClose(chain.asOf) : (input.days_to_expiry * DAY_MS) / YEAR_MS;
    yield* fitDensitiesAround(prepared, tte);
    yield { message: 'Computing the probability' };
    const reading = jumpProbability(surface, {
      spot: input.spot_price,
      strike: input.ambush_strike,
      tte,
      noJump: input.stag_prob,
      sizes: jumps.sizes,
    });
    const carry = (reading.rate - reading.dividend) * reading.tte;
    // fitDensitiesAround has already fitted these densities.
    const density = densityProbability(prepared, Math.log(input.ambush_strike / input.spot_price) - carry, reading.tte);
    const ofDensity = density && (reading.direction === 'at_or_above' ? 1 - density.below : density.below);
    // The touch probability takes longer than all other steps, so it is computed only if the answer has it.
    const touch = isWanted('touch_probability')
      ? yield* touchInSteps(reading, input.spot_price, input.ambush_strike)
      : Number.NaN;
    return {
      result: {
        ticker: chain.underlying,
        ambush_strike: input.ambush_strike,
        merton_probability: reading.probability,
        touch_probability: touch,
        density_probability: ofDensity,
        density_fit_error: density?.fitError ?? null,
        direction: reading.direction,
        tte: reading.tte,
        implied_volatility: Math.sqrt(reading.totalVariance / reading.tte),
        diffusion_volatility: reading.diffusionVolatility,
        jump_intensity: reading.intensity,
        jump_mean: reading.sizes.mean,
        jump_vol: reading.sizes.width,
        jump_scale: reading.jumpScale,
        jump_sizes: jumps.fitted ? ('fitted' as const) : ('default' as const),
        jump_mean_unscaled: jumps.sizes.mean,
        jump_vol_unscaled: jumps.sizes.width,
        jump_fit_error: jumps.fitted?.error ?? null,
        jump_fit_points: jumps.points,
        rate: reading.rate,
        dividend: reading.dividend,
      },
      provenance: provenanceOf(chain, context, densityCaveats(reading.probability, ofDensity)),
    };
  },
});

/** The answer has a note if the probability differs by more than this from the probability by the options' own density. */
const DIFFERENCE_NOTED = 0.03;

function densityCaveats(probability: number, ofDensity: number | null): string[] {
  if (ofDensity === null || Math.abs(probability - ofDensity) <= DIFFERENCE_NOTED) return [];
  return [`The density fitted to the options, which makes no assumption on jumps, gives ${ofDensity.toFixed(3)}.`];
}

/** Returns the years from a moment to the close of its New York day. Returns 0 after the close: `jumpProbability` has a minimum time. */
function yearsUntilClose(atMs: number): number {
  const day = newYorkDate(atMs);
  return isTradingDay(day) ? Math.max(0, closeOf(day) - atMs) / YEAR_MS : 0;
}
