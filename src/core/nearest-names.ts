const NEAREST = 3;

/**
 * Returns the names that are most similar to an unknown name, the most similar first. Similarity is the larger of Dice's coefficient of
 * letter pairs, which finds reordered words, and the share of unchanged letters, which finds typing errors.
 */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const given = name.slice(0, 100).toLowerCase();
  return names
    .map((each) => ({ each, similarity: similarity(given, each.toLowerCase()) }))
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, NEAREST)
    .map(({ each }) => each);
}

/** Returns the known name for which a name is probably a typing error. Returns undefined if no known name is similar. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const [nearest] = nearestNames(name, known);
  const isSimilar =
    nearest !== undefined && similarity(name.slice(0, 100).toLowerCase(), nearest.toLowerCase()) > SIMILAR;
  return isSimilar ? nearest : undefined;
}

/** Minimum similarity of a typing error. Two names with half of their letters in common, such as `date` and `at`, are not similar. */
const SIMILAR = 0.5;

function similarity(a: string, b: string): number {
  const [pairs, others] = [pairsOf(a), pairsOf(b)];
  const dice = (2 * pairs.intersection(others).size) / Math.max(1, pairs.size + others.size);
  return Math.max(dice, 1 - editDistance(a, b) / Math.max(1, a.length, b.length));
}

function pairsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2)));
}

/** Minimum number of letters to insert, remove, replace or swap until two texts are equal (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + Number(a[i - 1] !== b[j - 1]);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
