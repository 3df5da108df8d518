import { Type } from '@sinclair/typebox';
import { mannerOf } from '../analytics/flow/aggressor-flow.ts';
import type { SignedPrint } from '../analytics/flow/trade-side.ts';
import type { Chain } from '../market/chain.ts';
import { premiumOf } from '../market/prints.ts';
import { provenanceOf } from './market-reading.ts';
import { defineOperation } from './operation.ts';
import { columnOf, count, defaulted, knownOf, texts } from './schemas.ts';
import { ofSignedTape, tapeInput, tapeNotes } from './signed-tape.ts';

const PRINTS_MAX = 5_000;

export const getSignedPrints = defineOperation({
  name: 'get_signed_prints',
  ofMarket: true,
  title: 'Signed prints',
  description:
    'The newest option prints, newest first, each with the side that started it and what told it, as columns.',
  input: Type.Object(
    {
      ...tapeInput,
      limit: defaulted(
        Type.Integer({ description: 'Prints at most, the newest of them.', minimum: 1, maximum: PRINTS_MAX }),
        100,
      ),
    },
    { additionalProperties: false },
  ),
  full: Type.Object(
    {
      ticker: Type.String({ description: 'Underlying symbol.' }),
      count: count('Rows of each column.'),
      of: count('Prints of the window that count.'),
      at: texts('When it traded, ISO 8601.'),
      root: texts('OSI root.'),
      expiry: texts('YYYY-MM-DD'),
      put_call: texts('C or P.'),
      strike: columnOf('Dollars.'),
      price: columnOf('Dollars per share.'),
      size: columnOf('Contracts.'),
      premium: columnOf('Dollars.'),
      bid: knownOf('Best bid it met, dollars per share; null where the feed gives none.'),
      ask: knownOf('Best offer it met, dollars per share; null where the feed gives none.'),
      aggressor: texts('buyer, seller or unknown: who started the trade.'),
      signed_by: texts('feed, quote, tick or unknown: what told it.'),
      manner: texts('multi_leg, sweep, block or single.'),
      delta: knownOf('Delta of the contract when it traded, per 1.00 of spot; null where the feed gives none.'),
    },
    { additionalProperties: false },
  ),
  rest: { method: 'GET', path: '/api/v1/flow/{ticker}/prints' },
  run(input, context) {
    const chain = context.market.chain(input.ticker);
    const { newest, counted } = ofSignedTape(kept, chain, input, context, (signed) => newestOf(signed, input.limit));
    const prints = newest.map(({ print }) => print);
    return {
      result: {
        ticker: chain.underlying,
        count: newest.length,
        of: counted,
        at: prints.map(({ at }) => new Date(at).toISOString()),
        root: prints.map(({ root }) => root),
        expiry: prints.map(({ expiry }) => expiry),
        put_call: prints.map(({ callPut }) => (callPut === 1 ? 'C' : 'P')),
        strike: prints.map(({ strike }) => strike),
        price: prints.map(({ price }) => price),
        size: prints.map(({ size }) => size),
        premium: prints.map(premiumOf),
        bid: prints.map(({ bid }) => bid),
        ask: prints.map(({ ask }) => ask),
        aggressor: newest.map(({ aggressor }) => SIDES[aggressor]),
        signed_by: newest.map(({ by }) => by),
        manner: prints.map(mannerOf),
        delta: prints.map(({ delta }) => delta),
      },
      provenance: provenanceOf(chain, context, tapeNotes(chain, input.days, context)),
    };
  },
});

const SIDES = { 1: 'buyer', '-1': 'seller', 0: 'unknown' } as const;

const kept = new WeakMap<Chain, Map<string, ReturnType<typeof newestOf>>>();

/** The last `limit` of them, newest first, and how many there are. */
function newestOf(signed: Iterable<SignedPrint>, limit: number) {
  let newest: SignedPrint[] = [];
  let counted = 0;
  for (const each of signed) {
    counted++;
    newest.push(each);
    if (newest.length >= 2 * PRINTS_MAX) newest = newest.slice(-limit);
  }
  return { newest: newest.slice(-limit).reverse(), counted };
}
