import type { PreparedChain } from '../analytics/prepared-chain.ts';
import { strikeGamma } from '../analytics/walls.ts';

/** GEX of all series at each strike, dollars per 1 % move, as dealers are taken: calls count up, puts down. */
export interface GexByStrike {
  /** Ascending. */
  readonly strike: Float64Array;
  /** Never negative. */
  readonly call: Float64Array;
  /** Never positive. */
  readonly put: Float64Array;
  readonly net: Float64Array;
  /** Contracts that counted: open interest or volume. */
  readonly callContracts: Float64Array;
  readonly putContracts: Float64Array;
}

export function gexByStrike(prepared: PreparedChain): GexByStrike {
  const gamma = strikeGamma(prepared);
  const { strike } = gamma;
  const { spot } = prepared.chain;
  const scale = spot * spot * 0.01;
  const call = gamma.call.map((each) => each * scale);
  const put = gamma.put.map((each) => -each * scale);
  const callContracts = new Float64Array(strike.length);
  const putContracts = new Float64Array(strike.length);
  const place = new Map(Array.from(strike, (each, at) => [each, at]));
  for (let row = 0; row < prepared.count; row++) {
    const contracts = prepared.callPut[row] === 1 ? callContracts : putContracts;
    contracts[place.get(prepared.strike[row]!)!]! += prepared.weight[row]!;
  }
  return { strike, call, put, net: call.map((each, at) => each + put[at]!), callContracts, putContracts };
}
