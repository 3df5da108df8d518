import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import { bySeries, inOrderOfSettlement } from '../../analytics/chain/rows.ts';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import { maxPain } from '../../analytics/exposure/max-pain.ts';
import { signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { type ReturnOf, StepCache, type Steps } from '../../core/steps.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, objectOf } from '../engine/schemas.ts';
import { dateColumn, nullableColumn, nullableWordColumn, numberColumn, textColumn } from '../engine/wrapped-schemas.ts';
import { answerChain, chainInput } from '../reading/analysis-options.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { headFields, reportHead } from '../reading/market-reading.ts';
import { forwardMethodColumn, SMILE_REFUSALS, settlementColumn } from '../reading/market-words.ts';
import { seriesFigures } from '../reading/series-figures.ts';
import { MARGIN_OF_ROW } from './gamma-regime.ts';

/** The columns of the answer. Each column has the name of a field of `Row`. */
const COLUMNS = {
  root: textColumn('OSI root.'),
  expiry: dateColumn('YYYY-MM-DD'),
  settlement: settlementColumn(),
  tte: numberColumn('Years to settlement.'),
  net_gex: numberColumn('Net gamma exposure, dollars per 1 % move.'),
  gross_gex: numberColumn('Sum of absolute gamma exposures, dollars per 1 % move.'),
  sign_margin_pct: numberColumn(MARGIN_OF_ROW),
  gross_share_pct: numberColumn('Gross gamma of this series, percent of the gross gamma of all series.'),
  expired_share_pct: numberColumn(
    'Gross gamma of this series and all series that settle before it, percent of the gross gamma of all series.',
  ),
  open_interest: nullableColumn('Contracts outstanding; null if the chain has no open interest.'),
  volume: numberColumn('Contracts traded on the day of the snapshot.'),
  max_pain: nullableColumn('Strike at which the options pay out least, dollars; null if no contract has a weight.'),
  forward: numberColumn('Forward price, dollars.'),
  forward_method: forwardMethodColumn,
  rate: numberColumn('Discount rate, continuous, decimal per year.'),
  atm_iv: nullableColumn(
    "At-the-money volatility, decimal per calendar year: that of the series' law in get_volatility_surface, or of the quotes next to the forward if smile_refused is not null; null if these determine none.",
  ),
  atm_iv_bid: nullableColumn(
    'At-the-money volatility that the bids next to the forward imply, decimal per calendar year; null if atm_iv is null, or without two-sided quotes.',
  ),
  atm_iv_ask: nullableColumn(
    'At-the-money volatility that the asks next to the forward imply, decimal per calendar year; null if atm_iv_bid is null.',
  ),
  atm_iv_trading: nullableColumn(
    'atm_iv per year of trading time, in which nights, and days without trading, count less, so that short expiries can be compared; null if atm_iv is null.',
  ),
  expected_move: nullableColumn('One standard deviation to settlement at atm_iv, dollars; null if atm_iv is null.'),
  straddle_move: nullableColumn(
    'Expected distance of the price at settlement from the forward, dollars: the price of the straddle at the forward, without discounting, which traders call the expected move. About four fifths of expected_move; null if atm_iv is null.',
  ),
  skew_25d: nullableColumn(
    'Volatility of the 25-delta put less that of the 25-delta call, decimal per calendar year; null if smile_refused is not null.',
  ),
  smile_refused: nullableWordColumn(
    SMILE_REFUSALS,
    'Why the series has no law, so no skew: no_volatility; too_few_strikes: fewer than five usable quotes out of the money; ' +
      'one_sided: fewer than two on one side of the forward. Null if it has one. GEX includes the series in any case.',
  ),
};

export const getGexByExpiry = defineOperation({
  name: 'get_gex_by_expiry',
  ofMarket: true,
  title: 'GEX and volatility by expiry',
  page: 'expiries',
  description:
    'One row per series (root and expiry), in order of settlement, as columns: gamma that expires with the series, max pain, forward, ' +
    'at-the-money volatility, expected move, 25-delta skew. Dealers are assumed long calls and short puts. With sign=flow, they hold the ' +
    'opposite of what customers bought and sold, by prints. Dollars.',
  example: { ticker: 'SPY' },
  input: chainInput,
  full: objectOf({
    ...headFields,
    count: count('Rows of each column.'),
    ...COLUMNS,
    sign_convention: signConvention,
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/expiries' },
  run: (input, context) => answerChain(input, context, gexByExpiryOf),
});

/** Computes the answer for a prepared chain. The answer is cached by the chain. */
export function* gexByExpiryOf(prepared: PreparedChain) {
  // The request pays for the surface here, because a request that cannot pay must not leave a started answer in the cache.
  const surface = yield* surfaceOfPrepared(prepared);
  return yield* answers.of(prepared, '', {
    message: 'Reading the expiries',
    steps: () => answerOf(prepared, surface),
  });
}

const answers = new StepCache<PreparedChain, ReturnOf<typeof answerOf>>(() => 1);

function* answerOf(prepared: PreparedChain, surface: FittedSurface) {
  const { chain } = prepared;
  const rows = yield* expiryRows(prepared, surface);
  const columns = Object.keys(COLUMNS).map((name) => [name, rows.map((row) => row[name as keyof Row])]);
  return {
    ...reportHead(chain),
    count: rows.length,
    ...(Object.fromEntries(columns) as { [Name in keyof typeof COLUMNS]: Row[Name][] }),
    sign_convention: conventionOf(prepared),
  };
}

type Row = ReturnType<typeof rowOf>;

/** Computes one row per series. Rows are sorted by settlement, and rows with the same settlement by root. */
function* expiryRows(prepared: PreparedChain, surface: FittedSurface): Steps<Row[]> {
  const series = inOrderOfSettlement(prepared.series);
  const rows: Row[] = [];
  let expired = 0;
  yield* bySeries(series, 'Reading the expiries', (each) => {
    const row = rowOf(prepared, surface, each, expired);
    expired += row.gross_gex;
    rows.push(row);
  });
  return rows;
}

/** Computes the row of one series. `before` is the gross gamma of all series that settle earlier, dollars per 1 % move. */
function rowOf(prepared: PreparedChain, surface: FittedSurface, each: PreparedSeries, before: number) {
  const { start, end, tte, forwardMethod, rate } = each;
  const gex = gexBySeries(prepared);
  const index = prepared.series.indexOf(each);
  const [gross, all] = [gex.gross[index]!, gex.grossOfAll];
  // If no contract has gamma, every share is 0.
  const percent = (part: number) => (all > 0 ? (100 * part) / all : 0);
  const figures = seriesFigures(prepared, surface, each);
  return {
    ...figures,
    tte,
    net_gex: gex.net[index]!,
    gross_gex: gross,
    sign_margin_pct: signMarginPct(gex.net[index]!, gross),
    gross_share_pct: percent(gross),
    expired_share_pct: percent(Math.min(before + gross, all)),
    // If every weight is 0, the total payout of the options is the same at each strike, so there is no max pain.
    max_pain: prepared.weight.subarray(start, end).some((weight) => weight > 0) ? maxPain(prepared, each) : null,
    forward_method: forwardMethod as string,
    rate,
    atm_iv_trading:
      figures.atm_iv === null ? null : figures.atm_iv * Math.sqrt(tte / surface.clock.years(each.series.settlesAt)),
  };
}
