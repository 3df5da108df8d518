import { type Static, Type } from '@sinclair/typebox';
import { count, momentField, namedObject, objectOf, oneOf } from '../engine/schemas.ts';
import {
  crossOf,
  dateColumn,
  momentColumn,
  namedOrNull,
  nullableColumn,
  numberColumn,
  numberList,
  numberOrNull,
  textColumn,
  wordColumn,
} from '../engine/wrapped-schemas.ts';
import { headFields } from '../reading/market-reading.ts';
import { SMILE_REFUSALS } from '../reading/market-words.ts';

const smileColumns = {
  tte: numberColumn('Calendar years from the quotes to the settlement, or to the end of the maturity.'),
  trading_years: numberColumn('Years of trading time: nights, and days without trading, count less.'),
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
  quoted_low: nullableColumn(
    'Lowest quoted strike, dollars; at a constant maturity, as many standard deviations below the forward as that of the nearest settlement. Prices and probabilities below it are extrapolated.',
  ),
  quoted_high: nullableColumn('Highest quoted strike, dollars, like quoted_low. Above it, the same is extrapolated.'),
  variance_swap_iv: nullableColumn(
    'Volatility of the log contract, decimal per calendar year: the fair volatility of a variance swap if the price does not jump.',
  ),
  variance_swap_iv_low: nullableColumn(
    'variance_swap_iv with the least prices beyond the quoted strikes that permit no arbitrage, decimal per calendar year: those on the tangent at the outermost quote.',
  ),
  variance_swap_iv_high: nullableColumn(
    'variance_swap_iv with log-linear prices beyond the quoted strikes, which have the price and the slope at the outermost quote, decimal per calendar year.',
  ),
  tail_share_variance: nullableColumn('Share of the variance of the log-return beyond the quoted strikes, 0 to 1.'),
  tail_share_third: nullableColumn(
    'Share of the absolute third central moment of the log-return beyond the quoted strikes, 0 to 1.',
  ),
  tail_share_fourth: nullableColumn(
    'Share of the fourth central moment of the log-return beyond the quoted strikes, 0 to 1.',
  ),
  skewness: nullableColumn(
    'Skewness of the log-return (Bakshi, Kapadia and Madan 2003); null if tail_share_third is above 0.5.',
  ),
  kurtosis: nullableColumn(
    'Kurtosis of the log-return; 3 for a normal distribution; null if tail_share_fourth is above 0.5.',
  ),
};

const pointsOf = (description: string) => Type.Array(Type.Array(Type.Number()), { description });

/** The schema of the answer of `get_volatility_surface`. */
export const surfaceAnswer = objectOf({
  ...headFields,
  fitted_to: oneOf(
    ['quotes', 'feed_volatility'],
    'quotes: two-sided quotes; feed_volatility: the snapshot has hardly any quotes, so options without a quote are fitted to the ' +
      'volatilities of the feed, with a band of 2 % on either side of each volatility in place of bid and ask.',
  ),
  clock: oneOf(
    ['trading', 'calendar'],
    'trading: nights and weekdays without trading count with night_weight, and Saturdays and Sundays with shut_day_weight; calendar: variance accrues evenly, as in a simulated market.',
  ),
  shut_day_weight: numberOrNull(
    'Ratio of the variance of a Saturday or a Sunday to that of an open session; fitted within 0 to 0.3; null if clock is calendar.',
  ),
  night_weight: numberOrNull(
    'Ratio of the variance of a night within the week to that of an open session: 0.5 if night_weight_dates is 0, else fitted to this snapshot within 0.1 to 1; null if clock is calendar.',
  ),
  night_weight_dates: count(
    'Number of days with options that settle at the open and others at the close, to whose quotes night_weight is fitted.',
  ),
  night_weight_error: numberOrNull('Standard error of night_weight, a ratio as it; null if night_weight_dates is 0.'),
  expiries: namedObject('SurfaceExpiries', 'One row per settlement.', {
    count: count('Rows of each column.'),
    expiry: dateColumn('YYYY-MM-DD'),
    series: textColumn('Roots and settlements of the series that settle at this instant, for example "SPXW PM".'),
    settles_at: momentColumn('Settlement, ISO 8601.'),
    quotes: numberColumn('Number of contracts out of the money to which the distribution is fitted.'),
    quotes_left_out: numberColumn(
      'Number of other contracts out of the money with a quote. Later settlements contradict the quote, or the strike is too far from the forward for a distribution.',
    ),
    outside_band: numberColumn('Number of these contracts whose fitted price is below the bid or above the ask.'),
    fit_error: numberColumn(
      'Root mean square error of the fitted prices within three standard deviations, as a multiple of the half-width of the band.',
    ),
    ...smileColumns,
  }),
  maturities: namedObject(
    'SurfaceMaturities',
    'One row per constant maturity up to the last settlement: 7, 30, 60, 90, 180 and 365 days. A maturity ends at the close of that day, or of the next trading day if the exchange is shut on that day.',
    {
      count: count('Rows of each column.'),
      days: numberColumn('Calendar days.'),
      ends_at: momentColumn('ISO 8601.'),
      ...smileColumns,
    },
  ),
  events: namedObject(
    'SurfaceEvents',
    'Events, such as earnings reports. An event is reported where the variance at the money rises faster between two neighbouring settlements than before and after them.',
    {
      count: count('Rows of each column.'),
      after: momentColumn('The event lies after this instant: a settlement or the moment of the quotes, ISO 8601.'),
      before: momentColumn('The event lies before this settlement, ISO 8601.'),
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
  ),
  refused: namedObject('SurfaceRefusals', 'Series that do not determine a smile. GEX still includes them.', {
    count: count('Rows of each column.'),
    series: textColumn('Root, expiry and settlement.'),
    reason: wordColumn(
      SMILE_REFUSALS,
      'no_volatility; too_few_strikes: fewer than five usable quotes out of the money; one_sided: fewer than two on one side of the forward.',
    ),
    atm_iv: nullableColumn(
      'At-the-money volatility of the quotes of the two strikes next to the forward, decimal per calendar year; null unless both are quoted and within one standard deviation of the forward.',
    ),
    atm_iv_bid: nullableColumn('atm_iv by the bids, decimal per calendar year; null if atm_iv is null.'),
    atm_iv_ask: nullableColumn('atm_iv by the asks, decimal per calendar year; null if atm_iv is null.'),
  }),
  quotes: namedOrNull(
    'SurfaceQuotes',
    'The quotes out of the money to which one smile is fitted, in order of the strike, with their bands: bid to ask, at least 0.2 cents to each side of the mid. Null unless quotes_days is given.',
    {
      count: count('Rows of each column.'),
      settles_at: momentField('The settlement of these quotes, ISO 8601.'),
      strike: numberColumn('Strike, dollars.'),
      side: wordColumn(['C', 'P'], 'C: the quote of the call; P: that of the put.'),
      iv_bid: nullableColumn(
        'Volatility at the lower edge of the band, decimal per calendar year; 0 if that edge is no price above zero.',
      ),
      iv_ask: nullableColumn(
        'Volatility at the upper edge of the band, decimal per calendar year; null if no volatility gives that price.',
      ),
    },
  ),
  grid: namedOrNull('SurfaceGrid', 'Total implied variance; null unless detail is grid.', {
    log_moneyness: numberList('ln(K/F).'),
    tte: numberList('Calendar years.'),
    trading_years: numberList('Years of trading time.'),
    total_variance: crossOf('By time, then by strike; null where the option is worth nothing.', {
      ...{ outer: ['tte', 'trading_years'], inner: ['log_moneyness'], value: 'total_variance' },
    }),
  }),
  parameters: namedOrNull(
    'SurfaceParameters',
    'The probability distribution of each expiry, a mixture of lognormals; null unless detail is parameters.',
    {
      kernel: numberList('By expiry: standard deviation of the log-price in every lognormal component.'),
      node: Type.Array(Type.Array(Type.Number()), {
        description: 'By expiry: means of the components, as multiples of the forward.',
      }),
      mass: Type.Array(Type.Array(Type.Number()), { description: 'By expiry: probabilities of the components.' }),
    },
  ),
  smiles: namedOrNull(
    'SurfaceSmiles',
    'The fitted smile of each expiry at 61 strikes, evenly spaced in ln(K/F) to three standard deviations at the money on each side of the forward; null unless detail is smiles. Each column is by expiry, then by strike.',
    {
      strike: pointsOf('Dollars.'),
      iv: pointsOf('Volatility, decimal per calendar year.'),
      delta: pointsOf('Forward delta of the option out of the money, which is the put below the forward.'),
      probability_below: pointsOf(
        'Probability of settling at or below the strike, 0 to 1; extrapolated below quoted_low and above quoted_high.',
      ),
    },
  ),
});

/** The answer of `get_volatility_surface`. */
export type SurfaceAnswer = Static<typeof surfaceAnswer>;
