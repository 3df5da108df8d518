import { TTE_FLOOR_MS } from '../../analytics/chain/prepared-chain.ts';
import { volatilityError } from '../../analytics/surface/density-figures.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { type JumpLaw, jumpDiffusionLaw } from '../../analytics/surface/jump-diffusion-law.ts';
import { clampProbability, lognormalLaw, type PriceLaw } from '../../analytics/surface/price-law.ts';
import {
  type Barrier,
  endBeyond,
  jumpTouch,
  pathTouches,
  touchProducts,
  touchRange,
} from '../../analytics/surface/touch-probability.ts';
import { verticalBounds } from '../../analytics/surface/vertical-bounds.ts';
import { ClientError } from '../../core/errors.ts';
import { addDays, horizonEnd, newYorkDate, newYorkInstant } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { type Context, defineOperation, hasPassed } from '../engine/operation.ts';
import { TOUCH_GRID_TOKENS, touchCost } from '../engine/request-cost.ts';
import { count, defaulted, integerIn, momentField, number, objectOf, oneOf, textField } from '../engine/schemas.ts';
import { priceField, ticker } from '../engine/shared-fields.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';
import { jumpLawOf, surfaceOfPrepared } from '../reading/chain-surface.ts';
import { provenanceOf, readMarket } from '../reading/market-reading.ts';

const DAYS_MAX = 3650;
/** The range of touch probabilities has the scenarios of these values of stag_prob, beside that of the caller. */
const SCENARIOS = [0.5, 0.95];

const probability = (description: string) => number(description, { minimum: 0, maximum: 1 });

export const calculateMertonProbability = defineOperation({
  name: 'calculate_merton_probability',
  ofMarket: true,
  title: 'Jump probability',
  page: 'house',
  description:
    'Risk-neutral probability (0 to 1) that a ticker ends beyond a strike: at or above it if the strike is at or above spot_price, else at ' +
    "or below it. Merton's jump diffusion, fitted to the quotes. Also touch_probability (at any time before), option_price and jump_model_price.",
  example: { ticker: 'NVDA', spot_price: 215, ambush_strike: 225, days_to_expiry: 7 },
  input: objectOf({
    ticker,
    spot_price: priceField('Spot to start from, dollars, e.g. spot_price of get_live_gex_nodes.'),
    ambush_strike: priceField('Strike to end beyond, dollars, e.g. call_wall.'),
    stag_prob: defaulted(
      number('Probability of no jump before expiry, 0.001 to 1; 1 is a plain diffusion.', {
        minimum: 0.001,
        maximum: 1,
      }),
      0.5,
    ),
    days_to_expiry: defaulted(
      integerIn(
        'Calendar days from the day of the quotes to the close at which the price is compared, e.g. days of get_option_quotes; a day without trading means the next trading day.',
        0,
        DAYS_MAX,
      ),
      1,
    ),
  }),
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    ambush_strike: number('Strike, dollars.'),
    merton_probability: number('Probability of ending beyond the strike, 0 to 1.', { minimum: 0, maximum: 1 }),
    touch_probability: probability(
      'Probability that the price touches the strike at any time before the horizon, by continuous paths with the distributions of the surface, 0 to 1.',
    ),
    touch_low: probability(
      'Least probability of touching by the models: local volatility, touch_random_volatility, and touch_jump with stag_prob as given, 0.5 and 0.95; less the error of such models; 0 to 1.',
    ),
    touch_high: probability('Largest probability of touching by these models, plus their error, 0 to 1.'),
    put_call: oneOf(
      ['C', 'P'],
      'The option of option_price and jump_model_price: C (call) if the strike is at or above spot_price, else P (put).',
    ),
    option_price: number(
      'Price of the option put_call at the strike, European, by the distribution fitted to bids and asks; discounted, dollars per share.',
      { minimum: 0 },
    ),
    jump_model_price: number(
      'Price of the same option by the jump diffusion before the fit to bids and asks, so it can differ from the market; dollars per share.',
      { minimum: 0 },
    ),
    side: oneOf(
      ['at_or_above', 'at_or_below'],
      'Where the price ends, relative to the strike: at_or_above if the strike is at or above spot_price.',
    ),
    spot_price: number('Spot from which the computation starts, dollars.'),
    chain_spot_price: number('Spot of the snapshot, dollars.'),
    horizon_ends_at: momentField('The instant at which the price is compared with the strike, ISO 8601.'),
    tte: number('Calendar years from the quotes to this instant.'),
    trading_years: number('Years of trading time to this instant.'),
    forward: number(
      'Forward price for the end of the horizon, in proportion to spot_price; the mean of the distribution, dollars.',
    ),
    surface_probability: number(
      "Probability of ending beyond the strike by the ticker's volatility surface, which does not use stag_prob, 0 to 1.",
    ),
    lognormal_probability: number(
      'Probability of ending beyond the strike by the lognormal distribution with the volatility at the money, 0 to 1.',
    ),
    untilted_probability: number(
      'Probability of ending beyond the strike by the jump diffusion, before its distribution is fitted to the bands of the quotes, 0 to 1.',
    ),
    vertical_low: numberOrNull(
      'Lowest probability that quoted vertical spreads around the strike allow, 0 to 1; null if no listed expiry settles at the horizon.',
    ),
    vertical_high: numberOrNull('Highest probability that these spreads allow, 0 to 1; null if vertical_low is null.'),
    touch_random_volatility: probability(
      'Probability of touching by a continuous path whose variance is also 0.1 or 1.9 times as large, by chance; 0 to 1.',
    ),
    touch_jump: probability(
      'Probability of touching in the scenario of stag_prob: by the jump diffusion, moved to the quotes; 0 to 1.',
    ),
    touch_end: probability(
      'Lower bound of touch_probability without arbitrage: the probability of ending beyond the strike, merton_probability; 0 to 1.',
    ),
    touch_superhedge: probability(
      'Upper bound of touch_probability without arbitrage: the cost of an option position that is worth at least 1 whenever the price is at the strike, 0 to 1.',
    ),
    atm_iv: number('At-the-money volatility at the horizon, decimal per calendar year.'),
    implied_volatility: numberOrNull(
      'Volatility at the strike by the fitted distribution, decimal per calendar year; null if the option is worth nothing there.',
    ),
    diffusion_volatility: number('Volatility of the diffusion alone, decimal per calendar year.'),
    jump_intensity: number('Jumps per calendar year.'),
    jump_mean: number('Mean of the log-jump.'),
    jump_vol: number('Standard deviation of the log-jump.'),
    jump_fit_error: numberOrNull(
      'Root mean square error of the volatilities of the jump diffusion alone, within 2.5 standard deviations, vol points; null without quotes.',
    ),
    fit_error: numberOrNull(
      'Root mean square error of the volatilities of the fitted distribution, within 2.5 standard deviations, vol points; null without quotes.',
    ),
    quotes: count(
      'Number of contracts to whose quotes the distribution is fitted; 0 if no expiry of the chain determines a smile.',
    ),
    rate: number('Discount rate, continuous, decimal per calendar year.'),
    dividend: number('Dividend yield that the forward implies, continuous, decimal per calendar year.'),
  }),
  tool: {
    question: 'probability of ending beyond or touching a price; price by a jump model',
    method: 'jump-probability-calculate_merton_probability',
    units: ['0 to 1', 'Risk-neutral', 'at or above it if the strike is at or above spot_price'],
    answers: ['ticker', 'ambush_strike', 'merton_probability'],
    echoes: [
      'side',
      'horizon_ends_at',
      'spot_price',
      'chain_spot_price',
      'touch_probability',
      'touch_low',
      'touch_high',
      'put_call',
      'option_price',
      'jump_model_price',
    ],
  },
  *run({ ticker: name, spot_price: spot, ambush_strike: strike, ...input }, context, isWanted) {
    const { chain, prepared } = yield* readMarket(name, context);
    const surface = yield* surfaceOfPrepared(prepared);
    if (!surface.hasLaws) {
      throw new ClientError('unprocessable', `No option of ${chain.underlying} has a volatility to compute with`, {
        hint: 'Load a snapshot with usable quotes or implied volatilities.',
      });
    }
    const endsAt = Math.max(horizonEnd(chain.asOf, input.days_to_expiry), chain.asOf + TTE_FLOOR_MS);
    const reading = yield* jumpLawOf(surface, endsAt, input.stag_prob);
    const { law, jumpDiffusion, horizon, quotes, slice } = reading;
    const { tte, years, rate, atmVariance } = horizon;
    const forward = (horizon.forward * spot) / chain.spot;
    // The touch probability takes longer than all other steps, so it is computed and paid only if the caller gets it.
    const touch = isWanted('touch_probability')
      ? yield* touchesOf(surface, reading, input.stag_prob, { spot, strike, forward })
      : NOT_WANTED;
    yield { message: 'Computing the probability' };
    const side = strike >= spot ? 1 : -1;
    const moneyness = strike / forward;
    const deviation = Math.sqrt(atmVariance);
    const beyond = (of: PriceLaw) => clampProbability(endBeyond(of, side, moneyness));
    const discounted = forward * Math.exp(-rate * tte);
    // A rounding error must not make a price of 0 negative.
    const priceBy = (of: PriceLaw) => discounted * Math.max(of.price(side, moneyness), 0);
    const model = jumpDiffusionLaw(jumpDiffusion);
    const variance = law.totalVariance(Math.log(moneyness));
    const error = (of: PriceLaw) => (slice ? volatilityError(of, quotes, deviation, tte) : null);
    const fitError = error(law);
    const verticals = slice?.settlesAt === endsAt ? verticalBounds(quotes, moneyness) : undefined;
    return {
      result: {
        ticker: chain.underlying,
        ambush_strike: strike,
        merton_probability: beyond(law),
        touch_probability: touch.probability,
        touch_low: touch.low,
        touch_high: touch.high,
        put_call: side > 0 ? ('C' as const) : ('P' as const),
        option_price: priceBy(law),
        jump_model_price: priceBy(model),
        side: side > 0 ? ('at_or_above' as const) : ('at_or_below' as const),
        spot_price: spot,
        chain_spot_price: chain.spot,
        horizon_ends_at: new Date(endsAt).toISOString(),
        tte,
        trading_years: years,
        forward,
        surface_probability: beyond(horizon.law),
        lognormal_probability: beyond(lognormalLaw(atmVariance)),
        untilted_probability: beyond(model),
        vertical_low: verticals ? (side > 0 ? verticals.low : 1 - verticals.high) : null,
        vertical_high: verticals ? (side > 0 ? verticals.high : 1 - verticals.low) : null,
        touch_random_volatility: touch.random,
        touch_jump: touch.jump,
        touch_end: touch.end,
        touch_superhedge: touch.superHedge,
        atm_iv: Math.sqrt(atmVariance / tte),
        implied_volatility: variance > 0 ? Math.sqrt(variance / tte) : null,
        diffusion_volatility: Math.sqrt(jumpDiffusion.variance / tte),
        jump_intensity: jumpDiffusion.jumps / tte,
        jump_mean: jumpDiffusion.mean,
        jump_vol: jumpDiffusion.width,
        jump_fit_error: error(model),
        fit_error: fitError,
        quotes: quotes.price.length,
        rate,
        dividend: rate - Math.log(horizon.forward / chain.spot) / tte,
      },
      provenance: provenanceOf(chain, context, [
        ...horizonNotes(chain, endsAt, context),
        ...caveats(chain, surface, reading, spot, moneyness),
        // Without jumps, the law is the lognormal, which is not fitted to the quotes.
        ...(jumpDiffusion.jumps > 0 ? fitNotes(fitError) : []),
      ]),
    };
  },
});

const NONE = Number.NaN;
const NOT_WANTED = { probability: NONE, low: NONE, high: NONE, end: NONE, superHedge: NONE, random: NONE, jump: NONE };

/** Computes the probabilities of touching a strike by all models. `random` and `jump` are those of two of the models. */
function* touchesOf(surface: FittedSurface, reading: JumpLaw, noJump: number, barrier: Barrier) {
  const { blend, random, local } = yield* pathTouches(surface, reading.horizon, barrier, TOUCH_GRID_TOKENS);
  const models = [blend, random, yield* scenarioTouch(reading, barrier), local];
  for (const scenario of SCENARIOS) {
    if (scenario === noJump) continue;
    models.push(yield* scenarioTouch(yield* jumpLawOf(surface, reading.endsAt, scenario), barrier));
  }
  const range = touchRange(models, reading.law, barrier);
  const [probability, withRandom, jump] = range.probabilities as [number, number, number];
  return { ...range, probability, random: withRandom, jump };
}

/** Computes the probability of touching a strike by a jump law. The account pays for it. */
function* scenarioTouch({ law, jumpDiffusion }: JumpLaw, barrier: Barrier) {
  yield { message: 'Computing a touch', tokens: touchCost(touchProducts(jumpDiffusion, barrier)) };
  return yield* jumpTouch(law, jumpDiffusion, barrier);
}

/** The answer has a note if the spot of the request differs from the spot of the chain by more than this share of the chain's spot. */
const SPOT_DIFFERENCE_NOTED = 0.1;

/** Returns notes on a horizon that may surprise the caller. Days are counted from the day of the quotes, not from today. */
function horizonNotes({ asOf }: Chain, endsAt: number, context: Context): string[] {
  const end = new Date(endsAt).toISOString();
  if (endsAt <= asOf + TTE_FLOOR_MS)
    return [`The session of the quotes is over: the horizon is 15 minutes, to ${end}.`];
  const day = newYorkDate(asOf);
  const midnights = [day, addDays(day, 1)].map((date) => hasPassed(newYorkInstant(date, '00:00'), context));
  const isToday = midnights[0] && !midnights[1];
  if (isToday) return [];
  const past = hasPassed(endsAt, context) ? ', which is over' : '';
  return [`Days count from the day of the quotes, ${day}: the horizon ends at ${end}${past}.`];
}

/** The answer has a note if the fit error is larger, vol points. */
const FIT_ERROR_NOTED = 2;

/** Returns a note if the law is far from the quotes. */
function fitNotes(error: number | null): string[] {
  if (error === null || error <= FIT_ERROR_NOTED) return [];
  return [
    `The law is ${error.toPrecision(2)} vol points from the mids (root mean square): the quotes are wide or contradict each other.`,
  ];
}

/** Returns notes on inputs for which the answer is not reliable. */
function caveats(
  chain: Chain,
  { slices }: FittedSurface,
  { endsAt, quotes }: JumpLaw,
  spot: number,
  moneyness: number,
): string[] {
  const notes: string[] = [];
  const difference = spot / chain.spot - 1;
  if (Math.abs(difference) > SPOT_DIFFERENCE_NOTED) {
    notes.push(
      `spot_price is ${percent(Math.abs(difference))} ${difference > 0 ? 'above' : 'below'} the spot of the snapshot, ${Number(chain.spot.toPrecision(8))}.`,
    );
  }
  const last = slices.at(-1);
  if (!last)
    return [
      ...notes,
      'The chain has too few quotes for a surface: the probability is a guess from the volatility at the money alone.',
    ];
  const [low, high] = [Math.min(...quotes.moneyness), Math.max(...quotes.moneyness)];
  if (quotes.moneyness.length > 0 && (moneyness < low || moneyness > high)) {
    notes.push(
      `The strike is ${moneyness < low ? 'below' : 'above'} all quoted strikes, as measured from spot_price: the probability is extrapolated.`,
    );
  }
  if (endsAt > last.settlesAt) {
    notes.push('The horizon ends after the last listed expiry: the volatility is extrapolated.');
  }
  return notes;
}

function percent(share: number): string {
  return `${(100 * share).toPrecision(3)} %`;
}
