import type { Steps } from '../../core/steps.ts';
import { oneGreek } from '../../math/black-scholes.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { pricedExposures } from './dollar-exposures.ts';
import { grossGexOf, netGexOf } from './gamma-profile.ts';
import { signProbability } from './sign-probability.ts';
import { isStickyStrike, smileMover } from './smile-dynamics.ts';

/** The shares that dealers trade after a move of spot to stay hedged, and the dealers' gamma at the new spot. */
export interface HedgingAtMove {
  /** The move from the present spot, percent. */
  readonly move: number;
  /** The spot after the move, dollars. */
  readonly spot: number;
  /** Shares that dealers trade during the move: + for purchases, - for sales. */
  readonly shares: number;
  /** The part of `shares` that follows from the change of the volatilities at the strikes. Absent if strikes keep theirs. */
  readonly vannaShares?: number;
  /** Net gamma at this spot, dollars per 1 % move. */
  readonly gex: number;
  /** Sum of the absolute gamma exposures of all contracts at this spot, dollars per 1 % move. */
  readonly grossGex: number;
  /** The probability that the sign of `gex` is right, 0 to 1 (see `signProbability`). */
  readonly signProbability: number;
}

const MESSAGE = 'Pricing the chain at moves';

/**
 * Computes the dealers' hedging for each move, in percent of spot and above -100: hedged dealers trade the difference between the options'
 * delta at the present and the new spot. Smiles move by the chain's smile dynamics, and forwards with spot. Contracts without a volatility
 * are left out.
 */
export function* hedgingAtMoves(prepared: PreparedChain, moves: readonly number[]): Steps<HedgingAtMove[]> {
  const present = prepared.chain.spot;
  const spots = moves.map((move) => present + (present * move) / 100);
  const [before, ...sticky] = yield* pricedExposures(prepared, [present, ...spots], MESSAGE);
  const held = before!.dex / present;
  const levels = Float64Array.from(spots);
  const gex = yield* netGexOf(prepared, levels);
  const gross = yield* grossGexOf(prepared, levels);
  const movedTo = yield* smileMover(prepared);
  const rows: HedgingAtMove[] = [];
  for (const [i, spot] of spots.entries()) {
    yield { message: MESSAGE };
    const moved = movedTo(spot);
    const stickyShares = held - sticky[i]!.dex / spot;
    const hasMoved = !isStickyStrike(prepared);
    const shares = hasMoved ? held - (yield* pricedExposures(moved, [spot], MESSAGE))[0]!.dex / spot : stickyShares;
    rows.push({
      move: moves[i]!,
      spot,
      shares,
      ...(hasMoved && { vannaShares: shares - stickyShares }),
      gex: gex[i]!,
      grossGex: gross[i]!,
      signProbability: signProbability({ ...moved, gamma: gammaAt(moved, spot) }),
    });
  }
  return rows;
}

/** Returns each contract's gamma at a spot, 0 without a volatility. */
function gammaAt({ pairs, count }: PreparedChain, spot: number): Float64Array {
  const gamma = new Float64Array(count);
  const ofPairs = oneGreek('gamma', { ...pairs, callPut: 1, spot });
  for (let pair = 0; pair < pairs.count; pair++) {
    if (ofPairs[pair]! > 0) gamma.fill(ofPairs[pair]!, pairs.contracts[pair], pairs.contracts[pair + 1]);
  }
  return gamma;
}
