import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexScale } from '../exposure/gex-by-series.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * The same chain with dealers on the other side of what customers traded, in place of the convention. What no print tells counts
 * nothing: it is known to neither side.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  const position = new Float64Array(prepared.count);
  for (let at = 0; at < position.length; at++) position[at] = -net[prepared.row[at]!]!;
  return { ...prepared, sign: 'flow', position };
}

/** How much of a chain its prints sign. */
export interface SignedShare {
  /** Share of open interest in customers' net positions, 0 to 1; 0 where nothing is open. */
  readonly share: number;
  /** Gross GEX of the open interest that they leave unsigned, dollars per 1 % move: what the net leaves out. */
  readonly unsignedGex: number;
}

/** Of a chain signed by flow. */
export function signedShare(prepared: PreparedChain): SignedShare {
  const { chain, row, position, gamma, multiplier } = prepared;
  const scale = gexScale(chain);
  let [signed, open, unsignedGex] = [0, 0, 0];
  for (let at = 0; at < prepared.count; at++) {
    // Of open interest, whatever contracts count by elsewhere.
    const its = chain.openInterest[row[at]!]! || 0;
    const held = Math.min(Math.abs(position[at]!), its);
    signed += held;
    open += its;
    unsignedGex += (its - held) * gamma[at]! * multiplier[at]! * scale;
  }
  return { share: open > 0 ? signed / open : 0, unsignedGex };
}
