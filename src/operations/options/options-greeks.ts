import { recordOf } from '../../core/record-of.ts';
import { greeksOf, MARKET_UNITS } from '../../math/black-scholes.ts';
import { defineOperation } from '../engine/operation.ts';
import { defaulted, namedObject, number, objectOf } from '../engine/schemas.ts';
import { dividend, iv, putCall, rate, spot, strike, tte } from '../engine/shared-fields.ts';
import { unlikelyUnits } from '../engine/unlikely-units.ts';
import { textList } from '../engine/wrapped-schemas.ts';

const GREEKS = ['delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;

const input = objectOf({ put_call: putCall, spot, strike, tte, iv, rate, dividend });

const full = objectOf({
  delta: number('Change of price per 1.00 of spot, dollars.'),
  gamma: number('Change of delta per 1.00 of spot.'),
  vega: number('Change of price per vol point (0.01), dollars.'),
  theta: number('Change of price per calendar day that passes, dollars.'),
  rho: number('Change of price per 1 % of rate, dollars.'),
  vanna: number('Change of delta per vol point.'),
  charm: number('Change of delta per calendar day that passes.'),
  volga: number('Change of vega per vol point; also called vomma.'),
  price: number('Model price, dollars.'),
  notes: textList('Caveats on the arguments.'),
  raw: namedObject(
    'RawGreeks',
    'The same Greeks in raw units: per 1.00 of spot, volatility or rate, and per year of time.',
    recordOf(GREEKS, () => number('Partial derivative per 1.00 of spot, volatility or rate, and per year of time.')),
  ),
});

export const computeOptionsGreeks = defineOperation({
  name: 'compute_options_greeks',
  title: 'Option Greeks',
  page: 'house',
  description:
    'Price and Greeks of one European option from its inputs alone (Black-Scholes-Merton), per share of a long option, dollars. ' +
    'delta, gamma: per 1.00 of spot; vega, vanna, volga: per vol point (0.01); theta, charm: per calendar day; rho: per 1 % of rate. ' +
    'For listed options: get_option_quotes.',
  example: { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04 },
  input,
  full,
  tool: {
    question: 'Greeks and price of an option from its inputs',
    method: 'kernels',
    units: ['dollars', 'per 1.00 of spot', 'vol point (0.01)', 'per calendar day', 'per 1 % of rate'],
    answers: GREEKS,
    echoes: ['price', 'notes'],
  },
  rest: {
    method: 'POST',
    path: '/api/v1/physics/greeks',
    input: objectOf({ ...input.properties, rate: defaulted(rate, 0.04) }),
    answers: GREEKS,
  },
  run(option) {
    const { put_call, spot, strike, tte, iv, rate, dividend } = option;
    const { price, ...raw } = greeksOf({ callPut: put_call === 'C' ? 1 : -1, spot, strike, tte, iv, rate, dividend });
    return {
      result: {
        delta: raw.delta,
        gamma: raw.gamma,
        vega: raw.vega * MARKET_UNITS.vega,
        theta: raw.theta * MARKET_UNITS.theta,
        rho: raw.rho * MARKET_UNITS.rho,
        vanna: raw.vanna * MARKET_UNITS.vanna,
        charm: raw.charm * MARKET_UNITS.charm,
        volga: raw.volga * MARKET_UNITS.volga,
        price,
        notes: unlikelyUnits({ tte, iv }),
        raw,
      },
    };
  },
});
