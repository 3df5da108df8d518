/** The columns of Zomma's tables, in the order in which a translator writes them. */
export const WRITTEN_COLUMNS = {
  chain: [
    ...(['underlying', 'as_of', 'spot', 'symbol', 'expiry', 'put_call', 'strike', 'open_interest'] as const),
    ...(['bid', 'ask', 'last', 'volume', 'iv', 'delta', 'gamma', 'multiplier'] as const),
  ],
  prints: [
    ...['executed_at', 'option_chain_id', 'underlying_symbol', 'expiry', 'option_type', 'strike', 'price', 'size'],
    ...['side', 'nbbo_bid', 'nbbo_ask', 'delta', 'exchange', 'report_flags', 'upstream_condition_detail', 'canceled'],
    ...['id', 'sequence'],
  ],
  closes: ['ticker', 'date', 'close', 'volume'],
} as const;

/** The fields of numbers, which may have decimal commas. */
export const NUMBER_FIELDS = [
  ...([
    'spot',
    'spot_bid',
    'spot_ask',
    'strike',
    'multiplier',
    'bid',
    'ask',
    'last',
    'volume',
    'open_interest',
  ] as const),
  ...(['iv', 'delta', 'gamma', 'price', 'size', 'close'] as const),
];

/** Writes cells as a line. Tabs and line breaks become spaces. */
export function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell) => (/["\t\r\n]/.test(cell) ? `"${cell.replaceAll(/[\t\r\n]/g, ' ').replaceAll('"', '""')}"` : cell)).join('\t')}\n`;
}
