import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from '../exposure/gex-by-series.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * The same chain, but dealers hold the opposite of what customers traded, instead of the conventional position. Contracts without signed
 * prints count 0: neither side is known to hold them.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  const position = new Float64Array(prepared.count);
  for (let at = 0; at < position.length; at++) position[at] = -net[prepared.row[at]!]!;
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
  let [signed, open, unsignedGex] = [0, 0, 0];
  for (let at = 0; at < prepared.count; at++) {
    // Always of open interest, even if other figures weight contracts by volume.
    const its = chain.openInterest[row[at]!]! || 0;
    const held = Math.min(Math.abs(position[at]!), its);
    signed += held;
    open += its;
    unsignedGex += (its - held) * gamma[at]! * multiplier[at]! * scale;
  }
  return { share: open > 0 ? signed / open : 0, unsignedGex };
}
