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

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}
