import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from '../exposure/gex-by-series.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * The same chain, but dealers hold the opposite of what customers traded, instead of the conventional position. Contracts without signed
 * prints count 0: neither side is known to hold them.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  const position = new Float64Array(prepared.count);
  for (let i = 0; i < position.length; i++) position[i] = -net[prepared.row[i]!]!;
  return { ...prepared, sign: 'flow', position };
}

/** How much of a chain's open interest the prints sign. */
export interface SignedShare {
  /** Share of open interest that is in customers' net positions, 0 to 1. 0 if there is no open interest. */
  readonly share: number;
  /** Gross GEX of the remaining, unsigned open interest, dollars per 1 % move: the net GEX leaves it out. */
  readonly unsignedGex: number;
}

/** The chain must be signed by flow. */
export function signedShare(prepared: PreparedChain): SignedShare {
  const { chain, row, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  let [signed, all, unsignedGex] = [0, 0, 0];
  for (let i = 0; i < prepared.count; i++) {
    // Always of open interest, even if other figures weight contracts by volume.
    const openInterest = chain.openInterest[row[i]!]! || 0;
    const signedContracts = Math.min(Math.abs(position[i]!), openInterest);
    signed += signedContracts;
    all += openInterest;
    unsignedGex += (openInterest - signedContracts) * gamma[i]! * multiplier[i]! * scale;
  }
  return { share: all > 0 ? signed / all : 0, unsignedGex };
}
