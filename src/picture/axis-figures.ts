/**
 * Returns round whole numbers from `low` to `high`. All numbers are multiples of a step. The step is 1, 2 or 5 times a power of ten. There
 * are at most `parts` steps between the ends. If both ends are 0, returns only 0.
 */
export function roundTicks(low: number, high: number, parts: number): number[] {
  const least = Math.max(1, (high - low) / parts);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least * (1 - 1e-9))!;
  const first = Math.ceil(low / step);
  // Adding 0 turns -0 into 0.
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step + 0);
}

const SUFFIXES = ['', 'K', 'M', 'B', 'T'];

/** Returns a count in few characters, with at most three digits before its suffix: 950, 12.3K, -1.5M. */
export function compactCount(value: number): string {
  // Rounding comes before the choice of the suffix, so that 999,999 becomes 1M instead of 1000K.
  const rounded = Number(Math.abs(value).toPrecision(3));
  const thousands = rounded < 1 ? 0 : Math.min(SUFFIXES.length - 1, Math.floor(Math.log10(rounded) / 3 + 1e-9));
  const text = `${Number((rounded / 1000 ** thousands).toPrecision(3))}${SUFFIXES[thousands]}`;
  return value < 0 && rounded > 0 ? `-${text}` : text;
}

/** Returns the text of `compactCount`, with a plus sign if the count is above 0. */
export function signedCount(value: number): string {
  return value > 0 ? `+${compactCount(value)}` : compactCount(value);
}

/** Returns a price with a number of decimals that depends on the price: $0.0123, $12.34, $123.4, $1234. */
export function shortPrice(price: number): string {
  const decimals = price >= 1000 ? 0 : price >= 100 ? 1 : price >= 1 ? 2 : 4;
  return `$${price.toFixed(decimals)}`;
}

/** Returns a price in dollars with two decimals. A price below one dollar has four decimals. */
export function fullPrice(price: number): string {
  return `$${price.toFixed(price < 1 ? 4 : 2)}`;
}

/** Returns a move in percent, with a plus or minus sign unless the move is 0. */
export function signedMove(move: number): string {
  const text = String(Number(move.toPrecision(4)));
  return `${move > 0 ? '+' : ''}${text}%`;
}
