import type { Print } from '../../market/prints.ts';

/**
 * The side as tapes write it (`ask`, `above_ask`, `buy`). Any other word, such as `no_side`, gives null. If the cell is empty, the side is
 * read from the tags (`ask_side`).
 */
export function sideOf(cell: string, tags: string): Print['side'] {
  const usual = SIDES.get(cell);
  if (usual !== undefined) return usual;
  const word = cell === '' ? (/\b(ask|bid|mid)_side\b/i.exec(tags)?.[1] ?? '') : cell;
  const plain = word.toLowerCase().replace(/[ _-]side$/, '');
  return SIDES.get(plain.replace(/[ -]/g, '_')) ?? null;
}

const SIDES: ReadonlyMap<string, Print['side']> = new Map([
  ...['ask', 'at_ask', 'above_ask', 'buy', 'buyer', 'bought'].map((word) => [word, 'ask'] as const),
  ...['bid', 'at_bid', 'below_bid', 'sell', 'seller', 'sold'].map((word) => [word, 'bid'] as const),
  ...['mid', 'middle', 'between'].map((word) => [word, 'mid'] as const),
]);
