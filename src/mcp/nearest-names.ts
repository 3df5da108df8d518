/** Number of names to suggest. */
const NEAREST = 3;

/** Returns the names most similar to an unknown name, the most similar first. Similarity is Dice's coefficient of the letter pairs. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const given = pairsOf(name.slice(0, 100).toLowerCase());
  return names
    .map((each) => ({ each, similarity: similarity(given, pairsOf(each)) }))
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, NEAREST)
    .map(({ each }) => each);
}

function pairsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.slice(i, i + 2)));
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return (2 * a.intersection(b).size) / Math.max(1, a.size + b.size);
}
