import { Type } from '@sinclair/typebox';
import { invalidArgument } from '../../core/errors.ts';
import type { Chain } from '../../market/chain.ts';
import type { Context } from './operation.ts';
import { integerIn, textField } from './schemas.ts';

/** Maximum number of rows on a page: 100 hedging nodes with all fields take up to 21,500 tokens of a model's context. */
export const PAGE_MAX = 100;

export const limit = (description: string) => Type.Optional(integerIn(description, 1, PAGE_MAX));

/** The schema of the argument `cursor`, for operations that return a list in pages. */
export const cursor = Type.Optional(textField('next_cursor of the previous page.'));
export const nextCursor = Type.Optional(
  textField('Cursor of the next page. Present only if limit or cursor is given, and not on the last page.'),
);
/** The schema of the cursor in an answer. An answer has the cursor if there is a further page. */
export const cursorOfNext = Type.Optional(textField('Cursor of the next page; absent on the last.'));

/** The arguments that select the rows of a list. Absent arguments are undefined. */
type RowSelection = Readonly<Record<string, string | number | undefined>>;

/** Returns the cursor of a row in a list that is computed from a chain, with a digest of the arguments that select the rows. */
export function cursorAt(
  { underlying, asOf }: Pick<Chain, 'underlying' | 'asOf'>,
  row: number,
  selection: RowSelection,
) {
  // The cursor is plain text. Models make mistakes when they copy base64, and base64 takes more tokens.
  return [underlying, asOf, row, ...digestOf(selection)].join('~');
}

function digestOf(selection: RowSelection): string[] {
  // The list of keys sorts the arguments, because hosts send them in any order.
  const text = JSON.stringify(selection, Object.keys(selection).sort());
  return text === '{}' ? [] : [Bun.hash(text).toString(36).slice(0, DIGEST_LENGTH)];
}

const DIGEST_LENGTH = 4;

/**
 * Returns the first row of a page, the moment in the cursor and a context for the page. If there is no cursor, the row is 0. In the returned context, the newest
 * chain of the ticker is the snapshot of the first page, even if newer snapshots are stored. If `pins` is `moment`, the cursor has the moment
 * of the first page in place of that of the snapshot, and the context has no later data. Throws `ClientError` if the cursor is malformed,
 * belongs to another ticker or to other arguments, or belongs to a snapshot that is no longer stored.
 */
export function pageFrom(
  given: string | undefined,
  ticker: string,
  context: Context,
  selection: RowSelection,
  pins: 'snapshot' | 'moment' = 'snapshot',
): { row: number; asOf?: number; context: Context } {
  if (given === undefined) return { row: 0, context };
  const [, of, asOf, row, digest] = CURSOR.exec(given) ?? refuse('must be next_cursor of an answer, unchanged');
  const { market } = context;
  if (market.tracked(ticker) !== of) refuse(`must belong to the requested ticker, not to ${of}`);
  if (digest !== digestOf(selection)[0]) refuse('must be used with the arguments of the page before it');
  const then = market.at(Number(asOf));
  const found = pins === 'moment' ? then : [market, then].find((each) => each.findChain(ticker)?.asOf === Number(asOf));
  if (!found) return refuse('must belong to a snapshot that is still stored');
  return { row: Number(row), asOf: Number(asOf), context: { ...context, market: found } };
}

/** Matches a cursor: a ticker, the moment of the snapshot in ms since the epoch (up to the year 2286), a row, and a digest. */
const CURSOR = /^([A-Z0-9._^]{1,12})~(\d{1,13})~(\d{1,6})(?:~([a-z0-9]{1,4}))?$/;

function refuse(expected: string): never {
  throw invalidArgument('/cursor', expected, 'Retry without cursor to begin with the newest snapshot.');
}
