import { Type } from '@sinclair/typebox';
import { combine } from '../../analytics/exposure/combined.ts';
import { ClientError } from '../../core/errors.ts';
import { DAY_MS } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import { INDEX_FUNDS, indexPartner } from '../../market/index-funds.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, momentField, number, objectOf, textField } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { numberColumn, numberOrNull } from '../engine/wrapped-schemas.ts';
import { chainInput, readChain } from '../reading/analysis-options.ts';
import { conventionOf, flowSignNotes, signConvention } from '../reading/dealer-sign.ts';
import { openInterestNotes, provenanceOf } from '../reading/market-reading.ts';
import { CHARM_EXPOSURE, charmNotes } from './charm.ts';
import { MILLION } from './gex-report.ts';
import { variantFields, variantSchema } from './level-variants.ts';

/** Maximum time between the two combined snapshots. If the time is longer, the market may have moved between the snapshots. */
const APART_MS_MAX = DAY_MS;

export const getGexCombined = defineOperation({
  name: 'get_gex_combined',
  ofMarket: true,
  title: 'GEX of an index with its fund',
  page: 'ticker',
  description:
    'GEX levels of two tickers together, e.g. of an index and the fund that tracks it (SPX with SPY). Prices of the added ticker are ' +
    'converted to the scale of the requested ticker at the ratio of both spots, which the answer states. Dollars.',
  example: { ticker: 'SPX', with: 'SPY' },
  input: objectOf({
    ...chainInput.properties,
    with: Type.Optional({
      ...ticker,
      description:
        'Ticker to add, e.g. SPY. Default for SPX, NDX, RUT and DJX: the fund that tracks the index; for SPY, QQQ, IWM and DIA: the index.',
    }),
  }),
  full: objectOf({
    ticker: textField('Underlying symbol; prices are on its scale.'),
    with: textField('The added symbol.'),
    spot_price: number('Spot of the ticker, dollars.'),
    with_spot_price: number('Spot of the added symbol, dollars.'),
    ratio: number('Ratio of both spots, which converts prices of the added symbol.'),
    basis_pct: numberOrNull(
      'Deviation of the ratio from the customary multiple (10 for SPX over SPY), percent; null for a pair without such a multiple.',
    ),
    as_of: momentField('When the quotes of the ticker were taken, ISO 8601.'),
    with_as_of: momentField('When the quotes of the added symbol were taken, ISO 8601.'),
    apart_s: number('Time between both snapshots, seconds; a price move in this time distorts the ratio.'),
    ...variantSchema,
    ticker_gex_mil: number('Net GEX of the ticker, millions of dollars per 1 % move.'),
    with_gex_mil: number('Net GEX of the added symbol, millions of dollars per 1 % move.'),
    net_dex_mil: number('Delta exposure of both, millions of dollars.'),
    net_vex_mil: number('Vanna exposure of both, millions of dollars per vol point.'),
    net_cex_mil: number(`${CHARM_EXPOSURE}, millions of dollars, of both.`),
    count: count('Rows of each column.'),
    spot: numberColumn('Levels of spot in steps of 0.25 % of the present spot, ascending, dollars.'),
    net_gex: numberColumn('Net gamma exposure of both at that level, dollars per 1 % move.'),
    ticker_gex: numberColumn('Net gamma exposure of the ticker, dollars per 1 % move.'),
    with_gex: numberColumn('Net gamma exposure of the added symbol, dollars per 1 % move.'),
    sign_convention: signConvention,
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/combined' },
  *run(input, context) {
    const own = yield* readChain(input, context);
    const { chain } = own;
    const partner = input.with ?? partnerOf(chain.underlying);
    if (!context.market.findChain(partner)) {
      throw invalid(
        `The ticker to add to ${chain.underlying} has no stored chain`,
        'must be a ticker with a chain',
        'Add ?with=TICKER.',
      );
    }
    const other = yield* readChain({ ...input, ticker: partner }, context);
    requireOneMarket(chain, other.chain);
    const both = yield* combine(own, other);
    const multiple = multipleOf(chain.underlying, other.chain.underlying);
    return {
      result: {
        ticker: chain.underlying,
        with: other.chain.underlying,
        spot_price: chain.spot,
        with_spot_price: other.chain.spot,
        ratio: both.ratio,
        basis_pct: multiple === undefined ? null : 100 * (both.ratio / multiple - 1),
        as_of: new Date(chain.asOf).toISOString(),
        with_as_of: new Date(other.chain.asOf).toISOString(),
        apart_s: Math.abs(chain.asOf - other.chain.asOf) / 1_000,
        ...variantFields(both),
        ticker_gex_mil: both.index.gex / MILLION,
        with_gex_mil: both.fund.gex / MILLION,
        net_dex_mil: both.exposures.dex / MILLION,
        net_vex_mil: both.exposures.vex / MILLION,
        net_cex_mil: both.exposures.cex / MILLION,
        count: both.profile.level.length,
        spot: [...both.profile.level],
        net_gex: [...both.profile.gex],
        ticker_gex: [...both.indexGex],
        with_gex: [...both.fundGex],
        sign_convention: conventionOf(own),
      },
      provenance: provenanceOf(
        chain,
        context,
        [own, other].flatMap((each) =>
          [...openInterestNotes(each.chain), ...flowSignNotes(each), ...charmNotes(each)].map(
            (note) => `${each.chain.underlying}: ${note}`,
          ),
        ),
      ),
    };
  },
});

function partnerOf(name: string): string {
  const partner = indexPartner(name)?.ticker;
  if (partner) return partner;
  throw invalid(`There is no default ticker to add to ${name}`, 'must name the ticker to add', 'Add ?with=TICKER.');
}

function multipleOf(name: string, other: string): number | undefined {
  if (INDEX_FUNDS[name]?.fund === other) return INDEX_FUNDS[name].multiple;
  return INDEX_FUNDS[other]?.fund === name ? 1 / INDEX_FUNDS[other].multiple : undefined;
}

function requireOneMarket(chain: Chain, other: Chain): void {
  if (chain.underlying === other.underlying) {
    throw invalid(`${chain.underlying} cannot be added to itself`, 'must be another ticker', 'Add ?with=TICKER.');
  }
  if (Math.abs(chain.asOf - other.asOf) <= APART_MS_MAX) return;
  const days = Math.round(Math.abs(chain.asOf - other.asOf) / DAY_MS);
  throw invalid(
    `The snapshots of ${chain.underlying} and ${other.underlying} are ${days} days apart`,
    'must have a snapshot within a day of the requested ticker’s snapshot',
    'Load newer data for the ticker whose snapshot is older.',
  );
}

function invalid(message: string, expected: string, hint: string): ClientError {
  return new ClientError('invalid_parameter', message, { hint, fieldErrors: [{ field: '/with', expected }] });
}
