/**
 * The ticker most of a file's symbols are about, the first on a tie. A file of one spot is one chain: options of other
 * underlyings in it are refused by `buildChain`.
 */
export function underlyingOfMost(symbols: readonly { readonly underlying: string }[]): string {
  const counts = new Map<string, number>();
  for (const { underlying } of symbols) counts.set(underlying, (counts.get(underlying) ?? 0) + 1);
  let most = '';
  for (const [underlying, count] of counts) if (count > (counts.get(most) ?? 0)) most = underlying;
  return most;
}
