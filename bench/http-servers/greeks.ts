import { type GreekName, greeksOf, MARKET_UNITS } from '../../src/math/black-scholes.ts';

/** Body of `POST /api/v1/physics/greeks`. */
export interface OptionBody {
  readonly put_call: 'C' | 'P';
  readonly spot: number;
  readonly strike: number;
  readonly tte: number;
  readonly iv: number;
  readonly rate?: number;
  readonly dividend?: number;
}

export const GREEKS_PATH = '/api/v1/physics/greeks';
export const GREEKS = ['delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;

/** Computes the same Greeks as Zomma's answer, in market units, with the same kernel. */
export function answerGreeks(body: OptionBody): Record<(typeof GREEKS)[number], number> {
  const raw = greeksOf({
    callPut: body.put_call === 'C' ? 1 : -1,
    spot: body.spot,
    strike: body.strike,
    tte: body.tte,
    iv: body.iv,
    rate: body.rate ?? 0.04,
    dividend: body.dividend ?? 0,
  });
  const market = (name: GreekName) => raw[name] * MARKET_UNITS[name];
  return {
    delta: market('delta'),
    gamma: market('gamma'),
    vega: market('vega'),
    theta: market('theta'),
    rho: market('rho'),
    vanna: market('vanna'),
    charm: market('charm'),
    volga: market('volga'),
  };
}
