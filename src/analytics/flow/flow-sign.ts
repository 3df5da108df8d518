import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from '../exposure/gex-by-series.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * Returns the chain with the dealers' positions that follow from the flow. These dealers hold the opposite of the customers' net positions,
 * instead of the conventional long calls and short puts. If no print of a contract gives the customers' side, its position is 0, because
 * nobody knows who holds it.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  const position = new Float64Array(prepared.count);
  for (let i = 0; i < position.length; i++) position[i] = -net[prepared.row[i]!]!;
  return { ...prepared, sign: 'flow', position };
}

/** For how much of a chain's open interest the prints give the dealer side. */
export interface SignedShare {
  /** The share of open interest for which the prints give the dealer side, 0 to 1. 0 if there is no open interest. */
  readonly share: number;
  /** Gross GEX of the remaining open interest, dollars per 1 % move. The net GEX of the chain leaves this open interest out. */
  readonly unsignedGex: number;
}

/** Returns for how much of the open interest the prints give the dealer side. The chain must be a result of `signedByFlow`. */
export function signedShare(prepared: PreparedChain): SignedShare {
  const { chain, row, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  let [signed, all, unsignedGex] = [0, 0, 0];
  for (let i = 0; i < prepared.count; i++) {
    // The share is always that of open interest, even if other figures weight contracts by volume.
    const openInterest = chain.openInterest[row[i]!]! || 0;
    const signedContracts = Math.min(Math.abs(position[i]!), openInterest);
    signed += signedContracts;
    all += openInterest;
    unsignedGex += (openInterest - signedContracts) * gamma[i]! * multiplier[i]! * scale;
  }
  return { share: all > 0 ? signed / all : 0, unsignedGex };
}
