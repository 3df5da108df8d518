import { buildChain, type ContractRow, contractRow, type QuoteField } from '../../market/build-chain.ts';
import { optionSymbolIn } from '../../market/option-symbol.ts';
import { spotOf } from '../implied-spot.ts';
import { cellNumber, numberOf } from '../numbers.ts';
import { countRejected, unreadable } from '../rejections.ts';
import { readTable } from './cells.ts';
import { type Format, READING, sourceOf } from './format.ts';
import { quoteDate } from './quote-date.ts';
import { underlyingOfMost } from './roots.ts';

/**
 * The format of the quote table that the exchange Cboe offers for download: a title line with `Last: 658.05`, a date line, a header, and one
 * row for each expiry and strike. The columns left of `Strike` belong to the call, those right of it to the put, in any order.
 */
export const quoteTable: Format = {
  claims(head) {
    const start = head.text.slice(0, 5_000);
    return head.findHeader(isHeader, WORDS) !== undefined || (/^[\t ]*"?date:/im.test(start) && LAST.test(start));
  },

  *read(file) {
    const { header, preamble, rows } = yield* readTable(file, isHeader, WORDS);
    yield READING;
    const strikeColumn = header.indexOf('strike');
    if (strikeColumn < 0) throw unreadable('the table has no column Strike');
    const call = columnsOf(header, CALLS, 0, strikeColumn);
    const put = columnsOf(header, PUTS, strikeColumn + 1, header.length);
    const asOf = quoteDate(preamble);

    const refused: Record<string, number> = {};
    const contracts: ContractRow[] = [];
    let count = 0;
    for (const row of rows) {
      if (row === undefined) {
        yield READING;
        continue;
      }
      count++;
      if (!row.isWhole(header.length)) {
        countRejected(refused, 'malformed_row');
        continue;
      }
      for (const columns of [call, put]) {
        const [start, end] = [row.start(columns.symbol), row.end(columns.symbol)];
        if (start === end) continue;
        const symbol = optionSymbolIn(row.bytes, start, end);
        if (symbol === undefined) {
          countRejected(refused, 'bad_symbol');
          continue;
        }
        contracts.push(contractRow(symbol, (field) => numberOf(row, columns[field])));
      }
    }
    if (contracts.length === 0) throw unreadable(`none of ${count} rows has a symbol that can be read`);
    yield READING;
    const underlying = underlyingOfMost(contracts);
    const spot = spotOf(lastSale(preamble), contracts, asOf);
    yield READING;
    const head = { underlying, asOf, spot, source: sourceOf(file), simulated: false, refused };
    const chain = buildChain(head, contracts);
    return [{ kind: 'chain', chain }];
  },
};

const LAST = /\blast:\s*\$?([\d,]*\d(?:\.\d+)?)/i;
const CALLS = ['calls', 'call'];
const PUTS = ['puts', 'put'];
const WORDS = /\bcalls?\b|expiration date/;

/** The possible names of each column, in lower case. Older downloads use the short names. */
const NAMES: Readonly<Record<QuoteField, readonly string[]>> = {
  last: ['last sale', 'last', 'last trade'],
  bid: ['bid'],
  ask: ['ask'],
  volume: ['volume', 'vol'],
  iv: ['iv', 'implied volatility', 'imp vol'],
  delta: ['delta'],
  gamma: ['gamma'],
  openInterest: ['open interest', 'open int', 'open int.', 'oi'],
  // The quote table has no column for the multiplier.
  multiplier: [],
};

interface Columns extends Record<QuoteField, number> {
  readonly symbol: number;
}

/** Finds the columns of the calls or of the puts among the indices [from, to), or -1. Throws a `ClientError` if a required one is missing. */
function columnsOf(header: readonly string[], symbolNames: readonly string[], from: number, to: number): Columns {
  const find = (names: readonly string[]) => header.findIndex((name, i) => i >= from && i < to && names.includes(name));
  const symbol = find(symbolNames);
  const fields = Object.entries(NAMES).map(([field, names]) => [field, find(names)]);
  const columns: Columns = { symbol, ...(Object.fromEntries(fields) as Record<QuoteField, number>) };
  if (symbol < 0) throw unreadable(`the table has no column ${symbolNames[0]}`);
  if (columns.openInterest < 0) throw unreadable(`the table has no column Open Interest of the ${symbolNames[0]}`);
  return columns;
}

/** Returns the price of the underlying. The title has the price as `Last: 3,990.56`, or as its second cell in older downloads. */
function lastSale(preamble: readonly string[]): number | undefined {
  for (const pattern of [LAST, /^[^,"]+\([^)]*\)"?,\s*(\d+(?:\.\d+)?)\s*(?:,|$)/]) {
    for (const line of preamble) {
      const price = cellNumber(pattern.exec(line.trim())?.[1]);
      if (price > 0 && Number.isFinite(price)) return price;
    }
  }
  return undefined;
}

function isHeader(cells: readonly string[]): boolean {
  const has = (names: readonly string[]) => names.some((name) => cells.includes(name));
  return has(CALLS) ? has(PUTS) || has(['strike']) : has(['expiration date']) && has(['strike']);
}
