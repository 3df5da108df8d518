/**
 * Kelly's fraction of capital f* = p - (1 - p) / b for a bet that is won with probability `winProbability` (p, in [0, 1]) and pays
 * `payoutRatio` (b > 0) for each unit staked (Kelly 1956). Negative if the bet has no edge.
 * @throws RangeError if an argument is outside its range.
 */
export function kellyFraction(winProbability: number, payoutRatio: number): number {
  if (!(winProbability >= 0 && winProbability <= 1)) {
    throw new RangeError(`winProbability must lie in [0, 1], is ${winProbability}`);
  }
  if (!(payoutRatio > 0)) throw new RangeError(`payoutRatio must be above 0, is ${payoutRatio}`);
  return winProbability - (1 - winProbability) / payoutRatio;
}

/**
 * Percent of capital to stake, in [0, 100]: the share `fraction` (in (0, 1]) of Kelly's fraction, or 0 if the bet has no edge.
 * @throws RangeError as `kellyFraction`, and if `fraction` is outside its range.
 */
export function kellyAllocationPct(winProbability: number, payoutRatio: number, fraction: number): number {
  if (!(fraction > 0 && fraction <= 1)) throw new RangeError(`fraction must lie in (0, 1], is ${fraction}`);
  return 100 * Math.min(Math.max(fraction * kellyFraction(winProbability, payoutRatio), 0), 1);
}
