/** The limits at which `falsePosition` ends. */
export interface RootLimits {
  /** The largest width of the interval, and the largest absolute value of the function, at which the search ends. */
  readonly width: number;
  readonly value: number;
  readonly iterations: number;
}

/**
 * Returns the number between `low` and `high` at which a falling function is zero. The method is regula falsi with the Illinois rule: if the
 * same end of the interval stays in two successive iterations, the value at this end is halved.
 */
export function falsePosition(
  valueAt: (x: number) => number,
  [low, high]: readonly [number, number],
  limits: RootLimits,
): number {
  let valueLow = valueAt(low);
  let valueHigh = valueAt(high);
  let side = 0;
  for (let i = 0; i < limits.iterations && high - low > limits.width; i++) {
    const x = (low * valueHigh - high * valueLow) / (valueHigh - valueLow);
    const found = valueAt(x);
    if (Math.abs(found) < limits.value || found === 0) return x;
    if (found > 0) {
      low = x;
      valueLow = found;
      if (side === 1) valueHigh /= 2;
      side = 1;
    } else {
      high = x;
      valueHigh = found;
      if (side === -1) valueLow /= 2;
      side = -1;
    }
  }
  return (low + high) / 2;
}
