/** Limits for arguments. A larger value probably has a wrong unit: percent instead of a decimal, or days instead of years. */
export const IV_NOTED = 3;
const TTE_NOTED = 5;

/** Returns a note for each argument that is valid, but so large that the argument probably has a wrong unit. */
export function unlikelyUnits({ iv, tte = 0 }: { readonly iv: number; readonly tte?: number }): string[] {
  return [
    ...(iv > IV_NOTED
      ? [`The volatility ${short(iv)} means ${short(100 * iv)} % per year. It is a decimal: 0.65 is 65 %.`]
      : []),
    ...(tte > TTE_NOTED ? [`tte ${short(tte)} means ${short(tte)} years. 28 days are ${short(28 / 365.25)}.`] : []),
  ];
}

/** A percent below this limit is probably a fraction, such as 0.05 for 5 %. */
const PERCENT_NOTED = 0.5;

/** Returns a note if all values of an argument in percent are so small that they are probably fractions. Zeros do not count. */
export function fractionNotes(name: string, percents: readonly number[]): string[] {
  const largest = Math.max(...percents.map(Math.abs));
  if (largest === 0 || largest >= PERCENT_NOTED) return [];
  return [
    `${name} is in percent: ${short(largest)} means ${short(largest)} %, and ${short(100 * largest)} is ${short(100 * largest)} %.`,
  ];
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
