import type { Chain } from '../../../src/market/chain.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { chainOf, EXPIRY, LATER, quoted, range } from '../../analytics/small-chains.ts';
import { callExtended, type Holdings, smallMarket } from '../small-market.ts';

const STRIKES = range(85, 115);

/** Calls and puts of an expiry with open interest around 100 dollars, so that dealers' gamma changes its sign there. */
export function series(expiry: string, openInterest: number): ContractRow[] {
  return quoted({ strikes: STRIKES, expiry, halfSpread: 0.01, rest: { openInterest, volume: 10 } }).map((row) =>
    // Calls above and puts below.
    ({ ...row, openInterest: openInterest * (row.callPut === 1 ? row.strike - 80 : 120 - row.strike) }),
  );
}

export const CHAIN = chainOf([...series(EXPIRY, 2), ...series(LATER, 1)]);

type Curve = 'price' | `${'' | 'lognormal_'}${'density' | 'probability_below'}`;

/** The parts of the radar's answer that tests check. */
export interface Scan {
  readonly state_density: Record<string, number> & { expiry: string; quantiles: Record<string, number> };
  readonly gex_boundaries: Record<string, number>;
  readonly institutional_concentration_pct: number;
  readonly institutional_concentration_all_expiries_pct: number;
  readonly whipsaw_risk_index: number | null;
  readonly whipsaw_components: Record<string, number | null>;
  readonly density_parameters: { node: number[]; mass: number[]; kernel: number[] };
  readonly density_curve: Readonly<Record<Curve, number[]>> & { readonly low: number; readonly high: number };
  readonly concentrated_strikes: { strike: number[]; share_pct: number[] };
  readonly largest_gamma_strikes?: { strike: number[]; share_pct: number[] };
  readonly whipsaw_inputs: Record<string, number | null>;
  readonly realised_volatility: number | null;
  readonly implied_volatility: number;
  readonly flow_from: string;
}

/** The extended answer of the radar on a market with one chain. */
export function scan(chain: Chain = CHAIN, args: object = {}, holdings: Holdings = {}): Scan {
  const { context } = smallMarket({ chains: [chain], ...holdings });
  return callExtended(runStrategicOmniRadar, { ticker: 'ACME', ...args }, context) as unknown as Scan;
}
