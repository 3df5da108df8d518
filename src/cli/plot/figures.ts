/** Beyond these bounds, the notation is exponential: the compact one has no suffix for large values, and writes zeros of small dollars. */
const LARGEST = 1e15;
const SMALLEST = 0.01;

const compact = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumSignificantDigits: 3,
  signDisplay: 'exceptZero',
});
const plain = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** Formats dollars with a sign and few characters: +1.23B, -45.6M. */
export function formatDollars(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || (size >= SMALLEST && size < LARGEST)) return compact.format(value);
  return `${value > 0 ? '+' : ''}${value.toExponential(1)}`;
}

export function formatPrice(value: number): string {
  return Math.abs(value) < LARGEST ? plain.format(value) : value.toExponential(1);
}

/** Formats a volatility, decimal per year, in percent. */
export function formatVolatility(volatility: number | null): string {
  return volatility === null ? 'none' : `${(100 * volatility).toFixed(1)} %`;
}
