/**
 * Returns the indices of the axis labels that fit without overlap, in ascending order. `at` are the centers of the labels in ascending
 * order, and `sizes` are their lengths, both in pixels. The result always contains the last label. The function adds the other labels in
 * ascending order, and leaves out each label without enough space.
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
