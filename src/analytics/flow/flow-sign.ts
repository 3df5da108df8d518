import type { PreparedChain } from '../chain/prepared-chain.ts';
import { gexByContract } from '../exposure/exposures.ts';
import type { CustomerPositions } from './customer-positions.ts';

/**
 * The same chain with dealers on the other side of what customers traded, in place of the convention. What no print tells counts
 * nothing: it is known to neither side.
 */
export function signedByFlow(prepared: PreparedChain, { net }: CustomerPositions): PreparedChain {
  return { ...prepared, sign: 'flow', position: Float64Array.from(prepared.row, (row) => -net[row]!) };
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
  let [signed, open] = [0, 0];
  const rest = new Float64Array(prepared.count);
  for (let at = 0; at < prepared.count; at++) {
    // Of open interest, whatever contracts count by elsewhere.
    const its = chain.openInterest[row[at]!]! || 0;
    const held = Math.min(Math.abs(position[at]!), its);
    signed += held;
    open += its;
    rest[at] = its - held;
  }
  const unsigned = gexByContract({ chain: prepared.chain, count: prepared.count, gamma, multiplier, position: rest });
  return { share: open > 0 ? signed / open : 0, unsignedGex: unsigned.reduce((sum, each) => sum + each, 0) };
}
