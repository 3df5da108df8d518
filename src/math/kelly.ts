/**
 * Returns Kelly's fraction of capital, `f* = p - (1 - p) / b` (Kelly 1956). `winProbability` is the probability p of a win, in [0, 1].
 * `payoutRatio` is the amount b > 0 that a win pays for each unit staked. The fraction is negative if the bet loses on average.
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
 * Returns the percentage of capital to stake, from 0 to 100. The result is Kelly's fraction times `fraction` in (0, 1], or 0 if the bet
 * loses on average.
 * @throws RangeError if an argument is outside its range.
 */
export function kellyAllocationPct(winProbability: number, payoutRatio: number, fraction: number): number {
  if (!(fraction > 0 && fraction <= 1)) throw new RangeError(`fraction must lie in (0, 1], is ${fraction}`);
  return 100 * Math.min(Math.max(fraction * kellyFraction(winProbability, payoutRatio), 0), 1);
}
