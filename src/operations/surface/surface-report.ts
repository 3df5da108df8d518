import { type Static, Type } from '@sinclair/typebox';
import { type EventVariance, findEvents, termStructure } from '../../analytics/surface/event-variance.ts';
import type { FittedSurface, HorizonLaw, SurfaceSlice } from '../../analytics/surface/fitted-surface.ts';
import { type SmileFigures, smileFigures } from '../../analytics/surface/smile-figures.ts';
import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { DAY_MS, horizonEnd, YEAR_MS } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { CALENDAR } from '../../market/variance-clock.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { defineOperation } from '../engine/operation.ts';
import {
  count,
  defaulted,
  finiteOrNull,
  nullable,
  nullableColumn,
  number,
  numberColumn,
  oneOf,
  textColumn,
  ticker,
} from '../engine/schemas.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { provenanceOf, readMarket } from '../reading/market-reading.ts';

/** Constant maturities, calendar days. */
const MATURITIES = [7, 30, 60, 90, 180, 365];
/** Size of the grid on request. */
const GRID = { times: 60, strikes: 200 };
/** Rate-limit tokens for the grid: some 150 ms of work. */
const GRID_TOKENS = 30;
/** Largest argument for the settlement whose quotes are added, days. */
const QUOTES_DAYS_MAX = 3_650;
/** Strikes are computed from their ratio to the forward, and have at most this many digits. */
const STRIKE_DIGITS = 12;
/** The grid reaches this many standard deviations below and above the forward, measured at the money at the last expiry. */
const GRID_REACH = 3;

const smileColumns = {
  tte: numberColumn('Calendar years from the quotes to the settlement, or to the end of the maturity.'),
  trading_years: numberColumn('Years of trading time: nights, and days without trading, count little.'),
  forward: numberColumn('Forward price, dollars.'),
  atm_iv: nullableColumn('At-the-money volatility, decimal per calendar year.'),
  atm_iv_trading: nullableColumn('At-the-money volatility, decimal per year of trading time.'),
  atm_iv_trading_without_events: nullableColumn(
    'atm_iv_trading without the variance of the events, decimal per year of trading time; equal to atm_iv_trading before the first event.',
  ),
  atm_iv_band: nullableColumn(
    'Half of the distance between the volatilities of bid and ask at the money, decimal per calendar year.',
  ),
  forward_iv_trading: nullableColumn(
    'Volatility between the instants of the previous row and of this row, decimal per year of trading time; null if the total variance does not rise between them.',
  ),
  put_25d_iv: nullableColumn('Volatility of the put with a forward delta of -0.25, decimal per calendar year.'),
  call_25d_iv: nullableColumn('Volatility of the call with a forward delta of 0.25, decimal per calendar year.'),
  put_10d_iv: nullableColumn('Volatility of the put with a forward delta of -0.10, decimal per calendar year.'),
  call_10d_iv: nullableColumn('Volatility of the call with a forward delta of 0.10, decimal per calendar year.'),
  skew_25d: nullableColumn('put_25d_iv less call_25d_iv, decimal per calendar year.'),
  skew_25d_band: nullableColumn(
    'How much skew_25d can differ within the bid-ask bands, decimal per calendar year. If the absolute value of skew_25d is smaller than this, the sign of skew_25d is not certain.',
  ),
  convexity_25d: nullableColumn('Mean of put_25d_iv and call_25d_iv, less atm_iv, decimal per calendar year.'),
  variance_swap_iv: nullableColumn('Fair volatility of a variance swap (log contract), decimal per calendar year.'),
  skewness: nullableColumn('Skewness of the log-return (Bakshi, Kapadia and Madan 2003).'),
  kurtosis: nullableColumn('Kurtosis of the log-return; 3 for a normal distribution.'),
};

const answerSchema = Type.Object(
  {
    ticker: Type.String({ description: 'Underlying symbol.' }),
    spot_price: number('Spot of the snapshot, dollars.'),
    fitted_to: oneOf(
      ['quotes', 'feed_volatility'],
      'quotes: two-sided quotes; feed_volatility: the snapshot has hardly any quotes, so options without a quote are fitted to the ' +
        'volatilities of the feed, with a band of 2 % on either side of each volatility in place of bid and ask.',
    ),
    clock: oneOf(
      ['trading', 'calendar'],
      'trading: nights count with night_weight, and days without trading with shut_day_weight; calendar: variance accrues evenly, as in a simulated market.',
    ),
    shut_day_weight: nullable(
      Type.Number(),
      'Ratio of the variance of a day without trading to that of an open session; fitted within 0 to 0.3; null if clock is calendar.',
    ),
    night_weight: nullable(
      Type.Number(),
      'Ratio of the variance of a night within the week to that of an open session; null if clock is calendar.',
    ),
    expiries: Type.Object(
      {
        count: count('Rows of each column.'),
        expiry: textColumn('YYYY-MM-DD'),
        series: textColumn('Roots and settlements of the series that settle at this instant, for example "SPXW PM".'),
        settles_at: textColumn('Settlement, ISO 8601.'),
        quotes: numberColumn('Number of contracts out of the money to which the distribution is fitted.'),
        outside_band: numberColumn('Number of these contracts whose fitted price is below the bid or above the ask.'),
        fit_error: numberColumn(
          'Root mean square error of the fitted prices within three standard deviations, as a multiple of the half-width of the band.',
        ),
        ...smileColumns,
      },
      { additionalProperties: false, description: 'One row per settlement.' },
    ),
    maturities: Type.Object(
      {
        count: count('Rows of each column.'),
        days: numberColumn('Calendar days.'),
        ends_at: textColumn('ISO 8601.'),
        ...smileColumns,
      },
      {
        additionalProperties: false,
        description:
          'One row per constant maturity up to the last settlement: 7, 30, 60, 90, 180 and 365 days. A maturity ends at the close of that day, or of the next trading day if the exchange is shut on that day.',
      },
    ),
    events: Type.Object(
      {
        count: count('Rows of each column.'),
        after: textColumn('The event lies after this instant: a settlement or the moment of the quotes, ISO 8601.'),
        before: textColumn('The event lies before this settlement, ISO 8601.'),
        implied_move: numberColumn('One standard deviation of the log-price over the event, decimal.'),
        implied_move_band: numberColumn(
          'Root of the sum of the squares of the changes of implied_move, one for each volatility at the money that moves to the edge of its band, decimal.',
        ),
        implied_move_error: numberColumn('Standard error of implied_move, decimal.'),
        expected_absolute_move: numberColumn(
          'Expected absolute log-return over the event: sqrt(2/pi) times implied_move, decimal.',
        ),
        variance: numberColumn('Variance of the log-price over the event, decimal: implied_move squared.'),
      },
      {
        additionalProperties: false,
        description:
          'Events, such as earnings reports. An event is reported where the variance at the money rises faster between two neighbouring settlements than before and after them.',
      },
    ),
    refused: Type.Object(
      {
        count: count('Rows of each column.'),
        series: textColumn('Root, expiry and settlement.'),
        reason: textColumn(
          'no_volatility; too_few_strikes: fewer than five usable quotes out of the money; one_sided: fewer than two on one side of the forward.',
        ),
      },
      { additionalProperties: false, description: 'Series that do not determine a smile. GEX still includes them.' },
    ),
    quotes: nullable(
      Type.Object(
        {
          count: count('Rows of each column.'),
          settles_at: Type.String({ description: 'The settlement of these quotes, ISO 8601.' }),
          strike: numberColumn('Strike, dollars.'),
          side: textColumn('C: the quote of the call; P: that of the put.'),
          iv_bid: nullableColumn(
            'Volatility at the lower edge of the band, decimal per calendar year; 0 if that edge is no price above zero.',
          ),
          iv_ask: nullableColumn(
            'Volatility at the upper edge of the band, decimal per calendar year; null if no volatility gives that price.',
          ),
        },
        { additionalProperties: false },
      ),
      'The quotes out of the money to which one smile is fitted, in order of the strike, with their bands: bid to ask, at least 0.2 cents to each side of the mid. Null unless quotes_days is given.',
    ),
    grid: nullable(
      Type.Object(
        {
          log_moneyness: numberColumn('ln(K/F).'),
          tte: numberColumn('Calendar years.'),
          trading_years: numberColumn('Years of trading time.'),
          total_variance: Type.Array(Type.Array(Type.Union([Type.Number(), Type.Null()])), {
            description: 'By time, then by strike; null where the option is worth nothing.',
          }),
        },
        { additionalProperties: false },
      ),
      'Total implied variance; null unless detail is grid.',
    ),
    parameters: nullable(
      Type.Object(
        {
          kernel: numberColumn('By expiry: standard deviation of the log-price in every lognormal component.'),
          node: Type.Array(Type.Array(Type.Number()), {
            description: 'By expiry: means of the components, as multiples of the forward.',
          }),
          mass: Type.Array(Type.Array(Type.Number()), { description: 'By expiry: probabilities of the components.' }),
        },
        { additionalProperties: false },
      ),
      'The probability distribution of each expiry, a mixture of lognormals; null unless detail is parameters.',
    ),
  },
  { additionalProperties: false },
);

/** The answer of `get_volatility_surface`. */
export type SurfaceAnswer = Static<typeof answerSchema>;

export const getVolatilitySurface = defineOperation({
  name: 'get_volatility_surface',
  ofMarket: true,
  title: 'Volatility surface',
  page: 'surface',
  description:
    'Volatility by strike and time, fitted to the quotes of all expiries: free of arbitrage between strikes and between expiries. Per expiry ' +
    'and at constant maturities: volatility at the money and at 25 and 10 deltas, skew, convexity, forward volatility, variance-swap ' +
    'volatility, skewness and kurtosis. Implied moves of single events, such as earnings reports. Nights, and days without trading, count ' +
    'little in trading time.',
  example: { ticker: 'SPY' },
  input: Type.Object(
    {
      ticker,
      detail: defaulted(
        oneOf(
          ['figures', 'grid', 'parameters'],
          'figures: smile figures only; grid: also total variance over 60 times and 200 strikes; parameters: also the fitted distributions.',
        ),
        'figures',
      ),
      quotes_days: Type.Optional(
        number('Adds the quotes of the settlement nearest to this many calendar days.', {
          minimum: 0,
          maximum: QUOTES_DAYS_MAX,
        }),
      ),
    },
    { additionalProperties: false },
  ),
  full: answerSchema,
  rest: { method: 'GET', path: '/api/v1/surface/{ticker}' },
  *run({ ticker: name, detail, quotes_days: quotesDays }, context) {
    const { chain, prepared } = yield* readMarket(name, context);
    const surface = yield* surfaceOfPrepared(prepared);
    return {
      result: yield* reportSurface(chain, surface, detail, quotesDays),
      provenance: provenanceOf(chain, context),
    };
  },
});

/** Builds the answer for a surface. Throws `ClientError` if no series of the chain determines a smile. */
export function* reportSurface(
  chain: Chain,
  surface: FittedSurface,
  detail: Detail,
  quotesDays?: number,
): Steps<SurfaceAnswer> {
  if (surface.slices.length === 0) {
    throw new ClientError('no_chain', `The chain of ${chain.underlying} has too few quotes for a volatility surface`, {
      hint: 'Load a snapshot in which one expiry has at least five quoted strikes, two of them on each side of the forward.',
    });
  }
  const events = yield* findEvents(termStructure(surface));
  const expiries = yield* smileRows(surface.slices.map((slice, i) => rowInput(slice, slice, varianceOf(events, i))));
  const last = surface.slices.at(-1)!.settlesAt;
  const days = MATURITIES.filter((each) => horizonEnd(chain.asOf, each) <= last);
  const ends = days.map((each) => horizonEnd(chain.asOf, each));
  const maturities = yield* smileRows(
    ends.map((at) => rowInput(surface.lawAt(at), nearestSlice(surface, at), varianceAt(surface, events, at))),
  );
  return {
    ticker: chain.underlying,
    spot_price: chain.spot,
    fitted_to: surface.source,
    ...clockOf(surface),
    expiries: {
      count: surface.slices.length,
      expiry: surface.slices.map(({ series }) => series[0]!.series.expiry),
      series: surface.slices.map(({ series }) =>
        series.map(({ series: each }) => `${each.root} ${each.settlement}`).join(', '),
      ),
      settles_at: surface.slices.map(({ settlesAt }) => new Date(settlesAt).toISOString()),
      quotes: surface.slices.map(({ quotes }) => quotes.price.length),
      outside_band: surface.slices.map(({ fit }) => fit.outside),
      fit_error: surface.slices.map(({ fit }) => fit.error),
      ...expiries,
    },
    maturities: {
      count: ends.length,
      days,
      ends_at: ends.map((at) => new Date(at).toISOString()),
      ...maturities,
    },
    events: eventRows(surface, events),
    refused: {
      count: surface.refused.length,
      series: surface.refused.map(({ series: { series } }) => `${series.root} ${series.expiry} ${series.settlement}`),
      reason: surface.refused.map(({ reason }) => reason as string),
    },
    quotes:
      quotesDays === undefined ? null : quotesOf(nearestSlice(surface, surface.clock.startMs + quotesDays * DAY_MS)),
    grid: detail === 'grid' ? yield* gridOf(surface) : null,
    parameters: detail === 'parameters' ? parametersOf(surface) : null,
  };
}

/** Returns the quotes of a settlement. The volatilities are those of the edges of their bands. */
function quotesOf({ settlesAt, forward, tte, quotes }: SurfaceSlice): SurfaceAnswer['quotes'] {
  const { callPut, moneyness, price, halfWidth } = quotes;
  const count = price.length;
  const order = [...moneyness.keys()].sort((a, b) => moneyness[a]! - moneyness[b]!);
  const volatilityAt = (sign: 1 | -1) =>
    impliedVolatility({
      ...{ count, callPut, spot: 1, strike: moneyness, tte, rate: 0, dividend: 0 },
      price: price.map((each, i) => each + sign * halfWidth[i]!),
    });
  const [bid, ask] = [volatilityAt(-1), volatilityAt(1)];
  return {
    count,
    settles_at: new Date(settlesAt).toISOString(),
    strike: order.map((i) => Number((moneyness[i]! * forward).toPrecision(STRIKE_DIGITS))),
    side: order.map((i) => (callPut[i] === 1 ? 'C' : 'P')),
    iv_bid: order.map((i) => finiteOrNull(bid[i]!)),
    iv_ask: order.map((i) => finiteOrNull(ask[i]!)),
  };
}

/** Returns the variance of the events up to a settlement. `settlement` is its position in the slices. */
function varianceOf(events: readonly EventVariance[], settlement: number): number {
  return events.reduce((sum, event) => sum + (event.settlement <= settlement ? event.variance : 0), 0);
}

/**
 * Returns the variance of the events up to an instant. Between the two settlements around an event, its variance is added in proportion to
 * trading time, like the variance of the surface.
 */
function varianceAt({ clock, slices }: FittedSurface, events: readonly EventVariance[], at: number): number {
  const years = clock.years(at);
  return events.reduce((sum, { settlement, variance }) => {
    const from = slices[settlement - 1]?.years ?? 0;
    const share = (years - from) / (slices[settlement]!.years - from);
    return sum + variance * Math.min(1, Math.max(0, share));
  }, 0);
}

function eventRows({ clock, slices }: FittedSurface, events: readonly EventVariance[]) {
  const moves = events.map(({ variance }) => Math.sqrt(variance));
  // The variance is the square of the move, so the move changes by the change of the variance divided by twice the move.
  const ofMove = (change: (event: EventVariance) => number) =>
    events.map((event, i) => change(event) / (2 * moves[i]!));
  const instant = (settlement: number) => new Date(slices[settlement]?.settlesAt ?? clock.startMs).toISOString();
  return {
    count: events.length,
    after: events.map(({ settlement }) => instant(settlement - 1)),
    before: events.map(({ settlement }) => instant(settlement)),
    implied_move: moves,
    implied_move_band: ofMove(({ band }) => band),
    implied_move_error: ofMove(({ error }) => error),
    expected_absolute_move: moves.map((move) => Math.sqrt(2 / Math.PI) * move),
    variance: events.map(({ variance }) => variance),
  };
}

type Detail = 'figures' | 'grid' | 'parameters';

function clockOf({ clock: { weights } }: FittedSurface) {
  return weights === CALENDAR
    ? { clock: 'calendar' as const, shut_day_weight: null, night_weight: null }
    : { clock: 'trading' as const, shut_day_weight: weights.shutDay, night_weight: weights.night };
}

interface RowInput {
  readonly law: HorizonLaw['law'];
  readonly tte: number;
  readonly years: number;
  readonly forward: number;
  readonly variance: number;
  /** Variance of the events up to the time of the row. */
  readonly ofEvents: number;
  /** Half-widths of the bands of the volatility at the money and of the 25-delta skew, as shares of the volatility at the money. */
  readonly band: number;
  readonly skewBand: number;
}

function rowInput(
  { law, years, forward, atmVariance, tte }: HorizonLaw,
  near: SurfaceSlice,
  ofEvents: number,
): RowInput {
  return {
    law,
    tte,
    years,
    forward,
    variance: atmVariance,
    ofEvents,
    band: near.fit.atmBand,
    skewBand: near.fit.skewBand,
  };
}

/** Computes the smile columns of some laws (distributions of the price at one instant), which are ordered by time. */
function* smileRows(inputs: readonly RowInput[]) {
  const rows: (SmileFigures & RowInput & { forwardVolatility: number | null })[] = [];
  let before = { variance: 0, years: 0 };
  for (const input of inputs) {
    if (rows.length > 0) yield { message: 'Reading the smiles' };
    const [variance, years] = [input.variance - before.variance, input.years - before.years];
    const forwardVolatility = variance > 0 && years > 0 ? Math.sqrt(variance / years) : null;
    rows.push({ ...input, ...smileFigures(input.law, input.tte), forwardVolatility });
    before = input;
  }
  const known = (value: (row: (typeof rows)[number]) => number) => rows.map((row) => finiteOrNull(value(row)));
  return {
    tte: rows.map(({ tte }) => tte),
    trading_years: rows.map(({ years }) => years),
    forward: rows.map(({ forward }) => forward),
    atm_iv: known(({ atm }) => atm),
    atm_iv_trading: known(({ variance, years }) => Math.sqrt(variance / years)),
    atm_iv_trading_without_events: known(({ variance, ofEvents, years }) => Math.sqrt((variance - ofEvents) / years)),
    atm_iv_band: known(({ atm, band }) => atm * band),
    forward_iv_trading: rows.map(({ forwardVolatility }) => forwardVolatility),
    put_25d_iv: known(({ put25 }) => put25),
    call_25d_iv: known(({ call25 }) => call25),
    put_10d_iv: known(({ put10 }) => put10),
    call_10d_iv: known(({ call10 }) => call10),
    skew_25d: known(({ skew25 }) => skew25),
    skew_25d_band: known(({ atm, skewBand }) => atm * skewBand),
    convexity_25d: known(({ convexity25 }) => convexity25),
    variance_swap_iv: known(({ varianceSwap }) => varianceSwap),
    skewness: known(({ skewness }) => skewness),
    kurtosis: known(({ kurtosis }) => kurtosis),
  };
}

function nearestSlice({ slices }: FittedSurface, at: number): SurfaceSlice {
  return slices.reduce((best, slice) =>
    Math.abs(slice.settlesAt - at) < Math.abs(best.settlesAt - at) ? slice : best,
  );
}

/**
 * Returns total variance at times whose square roots are evenly spaced. The first time is 16 % of the way from the quotes to the first
 * settlement. The last time is the last settlement.
 */
function* gridOf(surface: FittedSurface) {
  const { clock, slices } = surface;
  const [first, last] = [slices[0]!, slices.at(-1)!];
  const reach = GRID_REACH * Math.sqrt(last.atmVariance);
  const logMoneyness = Array.from({ length: GRID.strikes }, (_, i) => reach * ((2 * i) / (GRID.strikes - 1) - 1));
  const [from, to] = [Math.sqrt(first.settlesAt - clock.startMs) * 0.4, Math.sqrt(last.settlesAt - clock.startMs)];
  yield { message: 'Filling the grid', tokens: GRID_TOKENS };
  const times: { tte: number; years: number; variance: (number | null)[] }[] = [];
  for (let i = 0; i < GRID.times; i++) {
    if (i > 0) yield { message: 'Filling the grid' };
    const at = clock.startMs + (from + ((to - from) * i) / (GRID.times - 1)) ** 2;
    const { law, years } = surface.lawAt(at);
    times.push({
      tte: (at - clock.startMs) / YEAR_MS,
      years,
      variance: logMoneyness.map((x) => finiteOrNull(law.totalVariance(x))),
    });
  }
  return {
    log_moneyness: logMoneyness,
    tte: times.map(({ tte }) => tte),
    trading_years: times.map(({ years }) => years),
    total_variance: times.map(({ variance }) => variance),
  };
}

function parametersOf({ slices }: FittedSurface) {
  return {
    kernel: slices.map(({ law }) => law.widths[0]!),
    node: slices.map(({ law }) => [...law.nodes]),
    mass: slices.map(({ law }) => [...law.masses]),
  };
}
