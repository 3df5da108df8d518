import { Type } from '@sinclair/typebox';
import { Failure } from '../errors.ts';
import type { Chain } from '../market/chain.ts';
import type { Context } from './operation.ts';

/** Rows of a page at the most: a hundred hedging nodes with all that is known of each are 14,500 tokens. */
export const PAGE_MAX = 100;

export const limit = (description: string) =>
  Type.Optional(Type.Integer({ description, minimum: 1, maximum: PAGE_MAX }));

/** Of an operation whose list goes on. */
export const cursor = Type.Optional(Type.String({ description: 'next_cursor of the page before.' }));
export const nextCursor = Type.Optional(
  Type.String({ description: 'With limit or cursor: continues here; absent at the end.' }),
);

/** A place in a list that is made of a chain, for `pageFrom`: pages that begin at such places fit together. */
export function cursorAt({ underlying, asOf }: Chain, row: number): string {
  // Plain text: models slip when they copy base64, and it takes them more tokens.
  return `${underlying}~${asOf}~${row}`;
}

/**
 * The row at which a page begins (0 without a cursor), and the context in which its list is found: that of the snapshot that
 * the first page was of, be there a newer one or not. Throws `Failure` for a cursor that is none, or that is of another ticker
 * or of a snapshot that is kept no more.
 */
export function pageFrom(
  given: string | undefined,
  ticker: string,
  context: Context,
): { row: number; context: Context } {
  if (given === undefined) return { row: 0, context };
  const [, of, asOf, row] = CURSOR.exec(given) ?? refuse('must be next_cursor of an answer, unchanged');
  const { market } = context;
  if (market.tracked(ticker) !== of) refuse(`must be of the ticker that is asked for, not of ${of}`);
  for (const each of [market, market.at(Number(asOf))]) {
    if (each.findChain(ticker)?.asOf === Number(asOf))
      return { row: Number(row), context: { ...context, market: each } };
  }
  return refuse('must be of a snapshot that is still kept');
}

/** A ticker, the snapshot's instant in ms since the epoch (up to the year 2286), and a row. */
const CURSOR = /^([A-Z0-9._^]{1,12})~(\d{1,13})~(\d{1,6})$/;

function refuse(expected: string): never {
  throw new Failure('unprocessable', `/cursor ${expected}`, {
    hint: 'Ask again without cursor to begin with the newest snapshot.',
    faults: [{ field: '/cursor', expected }],
  });
}
