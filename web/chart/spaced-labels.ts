/**
 * Returns the indices of the labels that can stand on an axis without overlap, ascending. `at` are the middles of the labels in ascending
 * order and `sizes` their lengths, pixels. The last label always stands, and the others from the first on as far as there is room.
 */
export function spacedLabels(at: readonly number[], sizes: readonly number[], gap = 8): number[] {
  const last = at.length - 1;
  if (last < 0) return [];
  const shown: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  const limit = at[last]! - sizes[last]! / 2 - gap;
  for (let i = 0; i < last; i++) {
    const half = sizes[i]! / 2;
    if (at[i]! - half < free || at[i]! + half > limit) continue;
    shown.push(i);
    free = at[i]! + half + gap;
  }
  return [...shown, last];
}
