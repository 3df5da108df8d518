import type { AssumedSign } from '../chain/options.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from '../exposure/gex-by-series.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * Returns a copy of the chain in which dealers hold the opposite of the customers' net positions, or 0 in contracts without a known side.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  const position = new Float64Array(prepared.count);
  for (let i = 0; i < position.length; i++) position[i] = -net[prepared.row[i]!]!;
  return { ...prepared, sign: 'flow', position };
}

/** Returns a copy of the chain in which dealers hold what a convention assumes. */
export function signedBy(prepared: PreparedChain, sign: AssumedSign): PreparedChain {
  const { weight, callPut } = prepared;
  const factor = { calls_long_puts_short: undefined, short_both: -1, long_both: 1 }[sign];
  return { ...prepared, sign, position: weight.map((each, i) => each * (factor ?? callPut[i]!)) };
}

/** The share of open interest for which prints show the dealers' side. */
export interface SignedShare {
  /** The share of open interest for which prints show the dealers' side, 0 to 1. 0 if there is no open interest. */
  readonly share: number;
  /** Gross GEX of the open interest whose dealers' side is unknown, dollars per 1 % move. The chain's net GEX does not include it. */
  readonly unsignedGex: number;
}

/** Returns the share of open interest for which prints show the dealers' side. The chain must be a result of `signedByFlow`. */
export function signedShare(prepared: PreparedChain): SignedShare {
  const { chain, row, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  let [signed, all, unsignedGex] = [0, 0, 0];
  for (let i = 0; i < prepared.count; i++) {
    // The share always refers to open interest, even if other figures weight contracts by volume.
    const openInterest = chain.openInterest[row[i]!]! || 0;
    const signedContracts = Math.min(Math.abs(position[i]!), openInterest);
    signed += signedContracts;
    all += openInterest;
    unsignedGex += (openInterest - signedContracts) * gamma[i]! * multiplier[i]! * scale;
  }
  return { share: all > 0 ? signed / all : 0, unsignedGex };
}
