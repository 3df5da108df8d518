import { Type } from '@sinclair/typebox';
import { type EventVariance, findEvents, termStructure } from '../../analytics/surface/event-variance.ts';
import {
  type FittedSurface,
  type HorizonLaw,
  quotedRange,
  type SurfaceSlice,
} from '../../analytics/surface/fitted-surface.ts';
import { type SmileFigures, smileFigures, smilePoints } from '../../analytics/surface/smile-figures.ts';
import { ClientError } from '../../core/errors.ts';
import { cachedBy, type ReturnOf, StepCache, type Steps } from '../../core/steps.ts';
import { DAY_MS, horizonEnd, YEAR_MS } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { CALENDAR } from '../../market/variance-clock.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import { defineOperation } from '../engine/operation.ts';
import { defaulted, finiteOrNull, number, objectOf, oneOf } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { provenanceOf, readMarket, reportHead } from '../reading/market-reading.ts';
import { type SurfaceAnswer, surfaceAnswer } from './surface-answer.ts';

/** The constant maturities of the answer, calendar days. */
const MATURITIES = [7, 30, 60, 90, 180, 365];
/** The number of maturities and the number of strikes in the grid. */
const GRID = { times: 60, strikes: 200 };
/** Cost of the grid, rate-limit tokens: about 150 ms of work. */
const GRID_TOKENS = 30;
/** Maximum value of the argument that selects the settlement whose quotes are returned, days. */
const QUOTES_DAYS_MAX = 3_650;
/** Number of significant digits of a strike. The limit is needed because a strike is computed from its ratio to the forward. */
const STRIKE_DIGITS = 12;
/** The distance from the forward to each edge of the grid, in at-the-money standard deviations of the last expiry. */
const GRID_REACH = 3;

export const getVolatilitySurface = defineOperation({
  name: 'get_volatility_surface',
  ofMarket: true,
  title: 'Volatility surface',
  page: 'surface',
  description:
    'Volatility by strike and time, fitted to the quotes of all expiries: free of arbitrage between strikes and between expiries. Per expiry ' +
    'and at constant maturities: volatility at the money and at 25 and 10 deltas, skew, convexity, forward volatility, variance-swap ' +
    'volatility, skewness and kurtosis. Implied moves of single events, such as earnings reports. Nights, and days without trading, count ' +
    'less in trading time.',
  example: { ticker: 'SPY' },
  input: objectOf({
    ticker,
    detail: defaulted(
      oneOf(
        ['figures', 'grid', 'parameters', 'smiles'],
        'figures: smile figures only; grid: also total variance over 60 times and 200 strikes; parameters: also the fitted distributions; smiles: also 61 points of each smile.',
      ),
      'figures',
    ),
    quotes_days: Type.Optional(
      number('Adds the quotes of the settlement nearest to this many calendar days.', {
        minimum: 0,
        maximum: QUOTES_DAYS_MAX,
      }),
    ),
  }),
  full: surfaceAnswer,
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

/** Builds the answer from a surface. Throws `ClientError` if no series of the chain determines a smile. */
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
  const { events, expiries, days, ends, maturities } = yield* figuresOf(surface);
  return {
    ...reportHead(chain),
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
      quotes_left_out: surface.slices.map(({ leftOut }) => leftOut),
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
      atm_iv: surface.refused.map(({ atm }) => atm?.iv ?? null),
      atm_iv_bid: surface.refused.map(({ atm }) => atm?.bid ?? null),
      atm_iv_ask: surface.refused.map(({ atm }) => atm?.ask ?? null),
    },
    quotes:
      quotesDays === undefined ? null : quotesOf(nearestSlice(surface, surface.clock.startMs + quotesDays * DAY_MS)),
    grid:
      detail === 'grid'
        ? yield* grids.of(surface, '', { ...FILLING, tokens: GRID_TOKENS, steps: () => gridOf(surface) })
        : null,
    parameters: detail === 'parameters' ? parametersOf(surface) : null,
    smiles: detail === 'smiles' ? yield* smilesOf(surface) : null,
  };
}

/** Computes the smile figures at the settlements and at the constant maturities, and the events. The figures are cached by the surface. */
const figuresOf = cachedBy('Reading the smiles', function* (surface: FittedSurface) {
  const { clock, slices } = surface;
  const events = yield* findEvents(termStructure(surface));
  const expiries = yield* smileRows(slices.map((slice, i) => rowInput(slice, slice, varianceOf(events, i))));
  const last = slices.at(-1)!.settlesAt;
  const days = MATURITIES.filter((each) => horizonEnd(clock.startMs, each) <= last);
  const ends = days.map((each) => horizonEnd(clock.startMs, each));
  const maturities = yield* smileRows(
    ends.map((at) => rowInput(surface.lawAt(at), nearestSlice(surface, at), varianceAt(surface, events, at))),
  );
  return { events, expiries, days, ends, maturities };
});

/** Computes points of the smile at each settlement, cached by the surface. */
const smilesOf = cachedBy('Reading the smiles', function* ({ slices }: FittedSurface) {
  const smiles: ReturnType<typeof smilePoints>[] = [];
  for (const slice of slices) {
    if (smiles.length > 0) yield { message: 'Reading the smiles' };
    smiles.push(smilePoints(slice));
  }
  const column = (name: keyof (typeof smiles)[number][number]) =>
    smiles.map((points) => points.map((point) => point[name]));
  return { strike: column('strike'), iv: column('iv'), delta: column('delta'), probability_below: column('below') };
});

const FILLING = { message: 'Filling the grid' };
const grids = new StepCache<FittedSurface, ReturnOf<typeof gridOf>>(() => 1);

/** Returns the quotes of a settlement. Each quote has the volatilities at the lower and the upper edge of its band. */
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

/** Returns the sum of the event variances up to a settlement. `settlement` is the index of the settlement's slice. */
function varianceOf(events: readonly EventVariance[], settlement: number): number {
  return events.reduce((sum, event) => sum + (event.settlement <= settlement ? event.variance : 0), 0);
}

/** Returns the sum of the event variances up to an instant. Between two settlements, it accrues in proportion to trading time. */
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
  // The variance is the square of the move. So a small change of the variance changes the move by `change / (2 * move)`.
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

type Detail = 'figures' | 'grid' | 'parameters' | 'smiles';

function clockOf({ clock: { weights } }: FittedSurface) {
  const ofClock =
    weights === CALENDAR
      ? { clock: 'calendar' as const, shut_day_weight: null, night_weight: null }
      : { clock: 'trading' as const, shut_day_weight: weights.shutDay, night_weight: weights.night };
  const { pairs = 0, error = null } = (weights !== CALENDAR && weights.nightFit) || {};
  return { ...ofClock, night_weight_dates: pairs, night_weight_error: error };
}

type RowInput = ReturnType<typeof rowInput>;

/** Returns the inputs that `smileRows` needs for one row. `ofEvents` is the sum of the event variances up to the time of the row. */
function rowInput({ law, years, forward, atmVariance, tte }: HorizonLaw, near: SurfaceSlice, ofEvents: number) {
  const { atmBand: band, skewBand } = near.fit;
  return {
    law,
    tte,
    years,
    forward,
    variance: atmVariance,
    ofEvents,
    band,
    skewBand,
    quoted: quotedRange(near, atmVariance),
  };
}

/** Computes the smile columns of several price distributions. The distributions must be in order of time. */
function* smileRows(inputs: readonly RowInput[]) {
  const rows: (SmileFigures & RowInput & { forwardVolatility: number | null })[] = [];
  let before = { variance: 0, years: 0 };
  for (const input of inputs) {
    if (rows.length > 0) yield { message: 'Reading the smiles' };
    const [variance, years] = [input.variance - before.variance, input.years - before.years];
    const forwardVolatility = variance > 0 && years > 0 ? Math.sqrt(variance / years) : null;
    rows.push({ ...input, ...smileFigures(input.law, input.tte, input.quoted), forwardVolatility });
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
    quoted_low: known(({ forward, quoted }) => strikeAt(forward, quoted[0])),
    quoted_high: known(({ forward, quoted }) => strikeAt(forward, quoted[1])),
    variance_swap_iv: known(({ varianceSwap }) => varianceSwap),
    variance_swap_iv_low: known(({ varianceSwapLow }) => varianceSwapLow),
    variance_swap_iv_high: known(({ varianceSwapHigh }) => varianceSwapHigh),
    tail_share_variance: known(({ tailShares }) => tailShares[0]),
    tail_share_third: known(({ tailShares }) => tailShares[1]),
    tail_share_fourth: known(({ tailShares }) => tailShares[2]),
    skewness: known(({ skewness }) => skewness),
    kurtosis: known(({ kurtosis }) => kurtosis),
  };
}

/** Returns the strike at a log-moneyness, dollars. */
function strikeAt(forward: number, logMoneyness: number): number {
  return Number((forward * Math.exp(logMoneyness)).toPrecision(STRIKE_DIGITS));
}

function nearestSlice({ slices }: FittedSurface, at: number): SurfaceSlice {
  return slices.reduce((best, slice) =>
    Math.abs(slice.settlesAt - at) < Math.abs(best.settlesAt - at) ? slice : best,
  );
}

/** Returns the total variance at times whose roots are even, from 16 % of the time to the first settlement to the last settlement. */
function* gridOf(surface: FittedSurface) {
  const { clock, slices } = surface;
  const [first, last] = [slices[0]!, slices.at(-1)!];
  const reach = GRID_REACH * Math.sqrt(last.atmVariance);
  const logMoneyness = Array.from({ length: GRID.strikes }, (_, i) => reach * ((2 * i) / (GRID.strikes - 1) - 1));
  const [from, to] = [Math.sqrt(first.settlesAt - clock.startMs) * 0.4, Math.sqrt(last.settlesAt - clock.startMs)];
  const times: { tte: number; years: number; variance: (number | null)[] }[] = [];
  for (let i = 0; i < GRID.times; i++) {
    if (i > 0) yield FILLING;
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
