import { type Static, Type } from '@sinclair/typebox';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { optionColumns } from '../../analytics/chain/rows.ts';
import { quoteVolatilities } from '../../analytics/chain/volatility-band.ts';
import { greeks, inMarketUnits } from '../../math/black-scholes.ts';
import { finiteOrNull, namedObject, number, textField } from '../engine/schemas.ts';
import { putCall } from '../engine/shared-fields.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';

/** The schema of a row: one contract with its quote, its own volatility and its Greeks. */
export const quoteRow = namedObject('OptionQuote', undefined, {
  strike: number('Strike, dollars.'),
  put_call: putCall,
  root: Type.Optional(textField('OSI root. Present only if the expiry has several roots.')),
  bid: numberOrNull('Bid, dollars, as the feed gives it: many feeds give 0 without a quote; null if not given.'),
  ask: numberOrNull('Ask, dollars, as the feed gives it; null if not given.'),
  iv: numberOrNull(
    "Volatility that the mid of the contract's own quote implies, decimal per calendar year; null without a two-sided quote, or if no volatility above 0 gives the mid.",
  ),
  iv_bid: numberOrNull(
    'Volatility that the bid implies, decimal per calendar year; null if the bid is not above intrinsic value, and without a two-sided quote.',
  ),
  iv_ask: numberOrNull(
    'Volatility that the ask implies, decimal per calendar year; null also if no volatility gives it; otherwise as iv_bid.',
  ),
  open_interest: numberOrNull('Contracts outstanding; null if not given.'),
  volume: numberOrNull('Contracts traded on the day of the snapshot; null if not given.'),
  delta: numberOrNull('Change of price per 1.00 of spot, dollars; null if the strike has no volatility.'),
  gamma: numberOrNull('Change of delta per 1.00 of spot; null if the strike has no volatility.'),
  theta: numberOrNull('Change of price per calendar day that passes, dollars; null if the strike has no volatility.'),
  vega: numberOrNull('Change of price per vol point (0.01), dollars; null if the strike has no volatility.'),
  nearest: Type.Optional(
    Type.Literal(true, {
      description: 'The call or put nearest near_delta or near_pct_from_spot; absent otherwise.',
    }),
  ),
});

/** Returns the rows of contracts, with their roots if `withRoot`, and the volatilities of the Greeks. Unknown figures are null. */
export function quoteRows(prepared: PreparedChain, contracts: readonly number[], withRoot: boolean) {
  const { chain, series, seriesIndex, row } = prepared;
  const rows = Uint32Array.from(contracts);
  const columns = optionColumns(prepared, rows);
  const { delta, gamma, theta, vega } = inMarketUnits(greeks(columns));
  const own = quoteVolatilities(prepared, rows);
  const quotes = contracts.map((contract, i): Static<typeof quoteRow> => {
    const at = row[contract]!;
    return {
      strike: columns.strike[i]!,
      put_call: columns.callPut[i] === 1 ? 'C' : 'P',
      ...(withRoot && { root: series[seriesIndex[contract]!]!.series.root }),
      bid: finiteOrNull(chain.bid[at]!),
      ask: finiteOrNull(chain.ask[at]!),
      iv: positiveOrNull(own.mid[i]!),
      iv_bid: positiveOrNull(own.bid[i]!),
      iv_ask: positiveOrNull(own.ask[i]!),
      open_interest: finiteOrNull(chain.openInterest[at]!),
      volume: finiteOrNull(chain.volume[at]!),
      delta: finiteOrNull(delta[i]!),
      gamma: finiteOrNull(gamma[i]!),
      theta: finiteOrNull(theta[i]!),
      vega: finiteOrNull(vega[i]!),
    };
  });
  return { quotes, greeks_iv: Array.from(columns.iv, finiteOrNull) };
}

/** Returns a volatility, or null for 0: a price that is not above the intrinsic value determines no volatility. */
function positiveOrNull(iv: number): number | null {
  return iv > 0 ? finiteOrNull(iv) : null;
}
