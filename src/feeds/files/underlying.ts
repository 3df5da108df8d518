import { rootOf } from '../../market/option-symbol.ts';

/**
 * The underlying of most rows of a file, the first one on a tie. A file with one spot is one chain: `buildChain` rejects options of other
 * underlyings.
 */
export function underlyingOfMost(rows: readonly { readonly root: string }[]): string {
  const counts = new Map<string, number>();
  for (const { root } of rows) {
    const { underlying } = rootOf(root);
    counts.set(underlying, (counts.get(underlying) ?? 0) + 1);
  }
  let most = '';
  for (const [underlying, count] of counts) if (count > (counts.get(most) ?? 0)) most = underlying;
  return most;
}
