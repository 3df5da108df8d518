import standardNames from './company-names.json' with { type: 'json' };
import { canonicalTicker } from './option-symbol.ts';

/** The names of each ticker: names of companies, funds and indices, and old symbols. */
export type NamesOfTickers = Readonly<Record<string, readonly string[]>>;

/** Number of tickers that are suggested for an unknown ticker. */
const NEAREST = 3;
/** Minimum similarity of a suggested ticker. Less similar tickers would be misleading. */
const SIMILAR_MIN = 0.34;
/** The index compares at most this number of characters. */
const SPELLING_MAX = 40;

/** Finds tickers by name, and finds the tickers that are most similar to a misspelt ticker. */
export interface TickerNames {
  /** Returns the ticker that has this name. Ignores case and punctuation. Returns `undefined` if no ticker has this name. */
  named(spelling: string): string | undefined;
  /** Returns at most three tickers whose symbol or name is most similar to the spelling. The most similar ticker comes first. */
  nearest(spelling: string, tickers: readonly string[]): string[];
}

/** Creates the index of names. Further names take precedence over standard names, and of equal names the last counts. */
export function createTickerNames(further: NamesOfTickers = {}): TickerNames {
  const entries = [standardNames as NamesOfTickers, further].flatMap((names) =>
    Object.entries(names).flatMap(([ticker, list]) => list.map((name) => [lettersOf(name), ticker] as const)),
  );
  const tickerOfName = new Map(entries);
  const namesOf = Map.groupBy(tickerOfName, ([, ticker]) => ticker);
  return {
    named: (spelling) => tickerOfName.get(lettersOf(spelling.slice(0, SPELLING_MAX))),
    nearest(spelling, tickers) {
      const given = lettersOf(spelling.slice(0, SPELLING_MAX));
      const similarityTo = (ticker: string) =>
        Math.max(
          similarity(given, lettersOf(ticker)),
          ...(namesOf.get(ticker) ?? []).map(([name]) => NAME_WEIGHT * similarity(given, name)),
        );
      return tickers
        .map((ticker) => ({ ticker, similarity: similarityTo(ticker) }))
        .filter(({ similarity }) => similarity >= SIMILAR_MIN)
        .toSorted((a, b) => b.similarity - a.similarity)
        .slice(0, NEAREST)
        .map(({ ticker }) => ticker);
    },
  };
}

/** The weight of a name. A name has less weight than a symbol (1), because misspelt symbols are more frequent than misspelt names. */
const NAME_WEIGHT = 0.95;

/** Returns the letters and digits of a text, in lower case. */
function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Returns the ticker without an exchange before it (`NASDAQ:META`) or a market after it (`META US`, `META.US`, `AAPL US Equity`). */
export function tickerWithin(text: string): string {
  if (PLAIN.test(text)) return text;
  const symbol = text
    .trim()
    .toUpperCase()
    .replace(
      /^(?:NYSEARCA|NYSEAMERICAN|NYSE|NASDAQ(?:GS|GM|CM)?|AMEX|ARCA|BATS|CBOE|OPRA|INDEX(?:SP|NASDAQ|CBOE)?|US|TICKER)\s*[:\s]\s*/,
      '',
    )
    .replace(/(?:[\s.](?:US|UW|UN|UQ|UP))?(?:\s+(?:EQUITY|INDEX|STOCK|SHARES|OPTIONS))?$/, '')
    .replace(/^#/, '');
  // A share class can follow a space, as in `BRK B`.
  return canonicalTicker(symbol.replace(/^([A-Z]{1,5})\s+([A-C])$/, '$1.$2'));
}

const PLAIN = /^[A-Z]{1,5}$/;

/** Returns the similarity of two texts, from 0 to 1. Frequent typing errors reduce the similarity less than rare errors. */
function similarity(a: string, b: string): number {
  if (a === '' || b === '') return 0;
  const firstDiffers = a[0] !== b[0] ? FIRST_LETTER : 0;
  return Math.max(0, 1 - (slipDistance(a, b) + firstDiffers) / Math.max(a.length, b.length));
}

/** The distance that is added if the first letters differ, because errors in the first letter are rare. */
const FIRST_LETTER = 0.4;
/** The costs of three typing errors: swapping two letters, typing one letter twice or only once, and hitting a neighbouring key. */
const [SWAP, DOUBLED, BESIDE] = [0.6, 0.5, 0.7];

/** Returns the edit distance with swaps (optimal string alignment). Frequent typing errors cost less than 1. */
function slipDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = [0];
  for (let j = 1; j <= b.length; j++) last.push(last[j - 1]! + lengthening(b, j - 1));
  for (let i = 1; i <= a.length; i++) {
    const row = [last[0]! + lengthening(a, i - 1)];
    for (let j = 1; j <= b.length; j++) {
      row.push(
        Math.min(
          last[j - 1]! + replacing(a[i - 1]!, b[j - 1]!),
          last[j]! + lengthening(a, i - 1),
          row[j - 1]! + lengthening(b, j - 1),
          i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? beforeLast[j - 2]! + SWAP : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}

/** Returns the cost of the letter at index `i` of a text, if the other text does not have this letter. */
function lengthening(text: string, i: number): number {
  return text[i] === text[i - 1] ? DOUBLED : 1;
}

function replacing(a: string, b: string): number {
  if (a === b) return 0;
  return areBeside(a, b) ? BESIDE : 1;
}

const KEYBOARD = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

/** Returns whether two keys touch on a keyboard. */
function areBeside(a: string, b: string): boolean {
  const [rowA, rowB] = [a, b].map((key) => KEYBOARD.findIndex((row) => row.includes(key)));
  if (rowA! < 0 || rowB! < 0 || Math.abs(rowA! - rowB!) > 1) return false;
  // Each row of keys is half a key further to the right than the row above.
  const [x, y] = [KEYBOARD[rowA!]!.indexOf(a) + rowA! / 2, KEYBOARD[rowB!]!.indexOf(b) + rowB! / 2];
  return Math.abs(x - y) <= 1;
}
