import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { exposuresByStrike } from '../../analytics/exposure/exposures-by-strike.ts';
import { signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import { cachedBy } from '../../core/steps.ts';
import { hasOpenInterest } from '../../market/chain.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, objectOf } from '../engine/schemas.ts';
import { nullableColumn, numberColumn } from '../engine/wrapped-schemas.ts';
import { answerChain, chainInput } from '../reading/analysis-options.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { headFields, reportHead } from '../reading/market-reading.ts';
import { CHARM_EXPOSURE, charmNotes } from './charm.ts';
import { MARGIN_OF_ROW } from './gamma-regime.ts';

export const getGexByStrike = defineOperation({
  name: 'get_gex_by_strike',
  ofMarket: true,
  title: 'GEX by strike',
  page: 'strikes',
  description:
    'Dealer exposures at each strike over the selected expiries, as columns: gamma of calls and puts, delta, vanna and charm, and the ' +
    'open interest and volume of calls and puts. Dealers are assumed long calls and short puts. With sign=flow, they hold the opposite of ' +
    'what customers bought and sold, by prints. Dollars.',
  example: { ticker: 'SPY' },
  input: chainInput,
  full: objectOf({
    ...headFields,
    count: count('Rows of each column.'),
    strike: numberColumn('Strikes, ascending, dollars.'),
    call_gex: numberColumn('Gamma exposure of calls, dollars per 1 % move.'),
    put_gex: numberColumn('Gamma exposure of puts, dollars per 1 % move; never positive if dealers are short puts.'),
    net_gex: numberColumn('Gamma exposure of calls plus puts, dollars per 1 % move.'),
    sign_margin_pct: numberColumn(MARGIN_OF_ROW),
    net_dex: numberColumn('Delta exposure, dollars.'),
    net_vex: numberColumn('Vanna exposure, dollars per vol point.'),
    net_cex: numberColumn(`${CHARM_EXPOSURE}, dollars.`),
    call_open_interest: nullableColumn('Contracts outstanding, calls; null if the chain has no open interest.'),
    put_open_interest: nullableColumn('Contracts outstanding, puts; null if the chain has no open interest.'),
    call_volume: numberColumn('Contracts traded on the day of the snapshot, calls.'),
    put_volume: numberColumn('Contracts traded on the day of the snapshot, puts.'),
    sign_convention: signConvention,
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/strikes' },
  run: (input, context) => answerChain(input, context, gexByStrikeOf, charmNotes),
});

/** Computes the answer for a prepared chain. The answer is cached by the chain. */
export const gexByStrikeOf = cachedBy('Summing up exposures by strike', function* (prepared: PreparedChain) {
  const { chain } = prepared;
  const by = yield* exposuresByStrike(prepared);
  const isKnown = hasOpenInterest(chain);
  const openInterest = (column: Float64Array) => Array.from(column, (each) => (isKnown ? each : null));
  return {
    ...reportHead(chain),
    count: by.strike.length,
    strike: [...by.strike],
    call_gex: [...by.callGex],
    put_gex: [...by.putGex],
    net_gex: [...by.netGex],
    sign_margin_pct: Array.from(by.netGex, (net, i) => signMarginPct(net, by.grossGex[i]!)),
    net_dex: [...by.dex],
    net_vex: [...by.vex],
    net_cex: [...by.cex],
    call_open_interest: openInterest(by.callOpenInterest),
    put_open_interest: openInterest(by.putOpenInterest),
    call_volume: [...by.callVolume],
    put_volume: [...by.putVolume],
    sign_convention: conventionOf(prepared),
  };
});
