import { memoize } from '../../core/cache.ts';
import { type OptionSymbol, parseOptionSymbol } from '../../market/option-symbol.ts';
import { cellNumber } from '../numbers.ts';

/** Parses a symbol, which may be padded. Rows of many days repeat it. */
export const rowSymbol = memoize(65_536, (text: string) => parseOptionSymbol(text.trim()));

export type RowContract = Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>;

/** Returns the contract of a row without a symbol, or `undefined` if a part of the contract cannot be read. `text` is the strike. */
export function contractOf(
  root: string,
  expiry: string | undefined,
  callPut: 1 | -1 | undefined,
  text: string,
): RowContract | undefined {
  const strike = cellNumber(text);
  if (root === '' || expiry === undefined || callPut === undefined || !(strike > 0 && strike < 1e5)) return undefined;
  return { root: root.replace(/^\^/, '').toUpperCase(), expiry, callPut, strike };
}
