/** For each index, the fund that tracks the index. `multiple` is the approximate ratio of the index to the fund's price. */
export const INDEX_FUNDS: Readonly<Record<string, { readonly fund: string; readonly multiple: number }>> = {
  SPX: { fund: 'SPY', multiple: 10 },
  NDX: { fund: 'QQQ', multiple: 40 },
  RUT: { fund: 'IWM', multiple: 10 },
  DJX: { fund: 'DIA', multiple: 1 },
};

/** Returns the fund of an index, or the index of a fund. Returns `undefined` for any other ticker. */
export function indexPartner(ticker: string): { readonly ticker: string; readonly kind: 'fund' | 'index' } | undefined {
  const fund = INDEX_FUNDS[ticker]?.fund;
  if (fund !== undefined) return { ticker: fund, kind: 'fund' };
  const index = Object.keys(INDEX_FUNDS).find((each) => INDEX_FUNDS[each]!.fund === ticker);
  return index === undefined ? undefined : { ticker: index, kind: 'index' };
}
