import { cleanLine } from '../core/clean-text.ts';
import { ClientError } from '../core/errors.ts';
import { indexPartner } from './index-funds.ts';
import { isTicker } from './option-symbol.ts';
import type { Universe } from './universe.ts';

/** A ticker without data: the text that the caller gave, and the canonical ticker of the text. */
export interface Sought {
  readonly spelling: string;
  readonly ticker: string;
  /** Whether the text is a name or an old symbol of the ticker. */
  readonly isByName: boolean;
}

/** Maximum length of the caller's text in an error, characters. */
const SHOWN_MAX = 40;
/** A text of at least this number of words is not taken for a misspelt ticker or name. */
const SENTENCE_WORDS = 3;
const WAY_TO_ALL = 'screen_tickers lists the tickers that have data.';

/** Returns the error for a ticker that is neither in the universe nor stored. `withData` are all tickers that have data. */
export function unknownTicker(sought: Sought, universe: Universe, withData: readonly string[]): ClientError {
  const instead = insteadOf(sought, universe, withData);
  return new ClientError('unknown_ticker', `${shown(sought)} is not in the universe and has no stored chain`, {
    hint: instead === undefined ? WAY_TO_ALL : `${instead} ${WAY_TO_ALL}`,
  });
}

/** Returns what a caller probably wants: the fund of an index, the symbols in a sentence, or similar names; `undefined` for nothing. */
export function insteadOf(
  { spelling, ticker }: Pick<Sought, 'spelling' | 'ticker'>,
  universe: Universe,
  withData: readonly string[],
): string | undefined {
  // Tickers of the universe, indices and their funds are not misspelt.
  if (universe.tickers.has(ticker) || indexPartner(ticker))
    return partnerHint(ticker, (other) => withData.includes(other));
  return sectorHint(ticker, universe) ?? sentenceHint(spelling, withData) ?? nearestHint(spelling, universe, withData);
}

/** Returns the error for a ticker of the universe that has no chain yet. */
export function noChain(sought: Sought, hasData: (ticker: string) => boolean): ClientError {
  const partner = partnerHint(sought.ticker, hasData);
  const message = `${shown(sought)} is in the universe, but no option chain of it has arrived yet`;
  return new ClientError('no_chain', message, {
    hint: `${partner ?? 'No feed has delivered data of it.'} ${WAY_TO_ALL}`,
  });
}

/** Returns the ticker for an error, with the caller's text if the text is a name, or the text alone if it is like no ticker. */
function shown({ spelling, ticker, isByName }: Sought): string {
  const given = `"${cleanLine(spelling, SHOWN_MAX)}"`;
  if (isByName) return `${ticker} (${given} was read as ${ticker})`;
  return isTicker(ticker) ? ticker : given;
}

/** Returns a hint that names the fund of an index, or the index of a fund. Returns `undefined` if this partner has no data. */
function partnerHint(ticker: string, hasData: (ticker: string) => boolean): string | undefined {
  const partner = indexPartner(ticker);
  if (!partner || !hasData(partner.ticker)) return undefined;
  return `${partner.ticker}, the ${partner.kind === 'fund' ? 'fund on it' : 'index that it tracks'}, has data.`;
}

/** Returns a hint for a sector ETF, which the universe names only as the proxy of single names. */
function sectorHint(ticker: string, { proxies }: Universe): string | undefined {
  const singles = [...proxies].filter(([, etf]) => etf === ticker).map(([single]) => single);
  if (singles.length === 0) return undefined;
  return `It is tracked only as the sector ETF of ${singles.join(', ')}: no feed has delivered data of it.`;
}

/** Returns a hint for a sentence in place of a ticker. The hint names the symbols in the sentence that have data. */
function sentenceHint(spelling: string, withData: readonly string[]): string | undefined {
  if (spelling.trim().split(/\s+/).length < SENTENCE_WORDS) return undefined;
  const symbols = (spelling.match(/\b[A-Z]+(?:\.[A-Z])?\b/g) ?? []).filter((word) => withData.includes(word));
  return symbols.length > 0 ? `Give the symbol alone: ${symbols.join(' or ')}.` : undefined;
}

/** Returns a hint with the most similar tickers that have data. If a ticker of the universe without data is more similar, names it too. */
function nearestHint(spelling: string, { names, tickers }: Universe, withData: readonly string[]): string | undefined {
  const nearest = names.nearest(spelling, withData);
  const [first] = names.nearest(spelling, [...withData, ...tickers]);
  const hints = [
    ...(first === undefined || withData.includes(first) ? [] : [`Nearest: ${first} (no data).`]),
    ...(nearest.length > 0 ? [`Nearest with data: ${nearest.join(', ')}.`] : []),
  ];
  return hints.length > 0 ? hints.join(' ') : undefined;
}
