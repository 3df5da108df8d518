import { rootOf } from '../../market/option-symbol.ts';

/**
 * The ticker most of a file's rows are about, the first on a tie. A file of one spot is one chain: options of other
 * underlyings in it are refused by `buildChain`.
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
