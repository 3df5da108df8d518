import type { Steps } from '../../core/steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { pricedExposures } from './dollar-exposures.ts';
import { netGexAtLevels, positionsOf } from './gamma-profile.ts';

/** The shares that dealers trade after a move of spot to stay hedged, and the dealers' gamma at the new spot. */
export interface HedgingAtMove {
  /** The move from the present spot, percent. */
  readonly move: number;
  /** The spot after the move, dollars. */
  readonly spot: number;
  /** Shares that dealers trade during the move: + for purchases, - for sales. */
  readonly shares: number;
  /** Net gamma at this spot, dollars per 1 % move. */
  readonly gex: number;
  /** Sum of the absolute gamma exposures of all contracts at this spot, dollars per 1 % move. */
  readonly grossGex: number;
}

/**
 * Computes the dealers' hedging for each move, in percent of spot and above -100: hedged dealers trade the difference between the options'
 * delta at the present and the new spot. Volatilities stay at their strikes, and forwards move with spot. Contracts without a volatility
 * are left out.
 */
export function* hedgingAtMoves(prepared: PreparedChain, moves: readonly number[]): Steps<HedgingAtMove[]> {
  const present = prepared.chain.spot;
  const spots = moves.map((move) => present + (present * move) / 100);
  const [before, ...after] = yield* pricedExposures(prepared, [present, ...spots], 'Pricing the chain at moves');
  const held = before!.dex / present;
  const levels = Float64Array.from(spots);
  const gex = yield* netGexAtLevels(yield* positionsOf(prepared), levels);
  const gross = yield* netGexAtLevels(yield* positionsOf(withoutSigns(prepared)), levels);
  return moves.map((move, i) => ({
    move,
    spot: spots[i]!,
    shares: held - after[i]!.dex / spots[i]!,
    gex: gex[i]!,
    grossGex: gross[i]!,
  }));
}

/** Returns a copy of the chain with dealers who are long every contract. The copy's net gamma is the gross gamma of the given chain. */
function withoutSigns(prepared: PreparedChain): PreparedChain {
  return { ...prepared, position: prepared.position.map(Math.abs) };
}
