import { mannerOf } from '../../analytics/flow/aggressor-flow.ts';
import { movesOf, type SignedPrint, signPrints } from '../../analytics/flow/trade-side.ts';
import { type Step, StepCache, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { rootOf } from '../../market/option-symbol.ts';
import { premiumOf } from '../../market/prints.ts';
import { PARTS, type StoredTape, type Stretch } from '../../market/tape.ts';
import { CELL, sumsOf, TapeSummer, type TapeSums } from '../../market/tape-sums.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, defaulted, integerIn, objectOf, textField } from '../engine/schemas.ts';
import {
  dateColumn,
  momentColumn,
  nullableColumn,
  numberColumn,
  textColumn,
  totalCount,
  wordColumn,
} from '../engine/wrapped-schemas.ts';
import { provenanceOf } from '../reading/market-reading.ts';
import { CACHED_RESULTS_MAX, cachedTapeResult, forEachStretch, tapeInput, tapeNotes } from '../reading/signed-tape.ts';

const PRINTS_MAX = 5_000;

export const getSignedPrints = defineOperation({
  name: 'get_signed_prints',
  ofMarket: true,
  title: 'Prints with their aggressors',
  page: 'flow',
  description:
    'The newest option prints as columns, newest first, each with its aggressor and how the aggressor was determined.',
  example: { ticker: 'SPY', limit: 20 },
  input: objectOf({
    ...tapeInput,
    limit: defaulted(integerIn('Maximum number of prints.', 1, PRINTS_MAX), 100),
  }),
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    count: count('Rows of each column.'),
    of: totalCount('Prints in the window that reach min_premium.'),
    at: momentColumn('Time of the trade, ISO 8601.'),
    root: textColumn('OSI root.'),
    expiry: dateColumn('YYYY-MM-DD'),
    put_call: wordColumn(['C', 'P'], 'C or P.'),
    strike: numberColumn('Strike, dollars.'),
    price: numberColumn('Price of the trade, dollars per share.'),
    size: numberColumn('Contracts traded.'),
    premium: numberColumn('Premium of the trade, dollars.'),
    bid: nullableColumn('Best bid at the trade, dollars per share; null if the feed gives none.'),
    ask: nullableColumn('Best offer at the trade, dollars per share; null if the feed gives none.'),
    aggressor: wordColumn(['buyer', 'seller', 'unknown'], 'buyer, seller or unknown: the side that started the trade.'),
    signed_by: wordColumn(
      ['feed', 'quote', 'tick', 'unknown'],
      'feed, quote, tick or unknown: how the aggressor was determined.',
    ),
    manner: wordColumn(['multi_leg', 'sweep', 'block', 'single'], 'multi_leg, sweep, block or single.'),
    delta: nullableColumn('Delta of the contract at the trade, per 1.00 of spot; null if the feed gives none.'),
  }),
  rest: { method: 'GET', path: '/api/v1/flow/{ticker}/prints' },
  *run(input, context) {
    const chain = context.market.chain(input.ticker);
    const { newest, counted } = yield* cachedTapeResult(cache, chain, input, context, (tape) =>
      newestOf(tape, input.min_premium, input.limit),
    );
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

const cache = new StepCache<Chain, Newest>(() => CACHED_RESULTS_MAX);

interface Newest {
  /** The newest prints, the last print first. */
  readonly newest: readonly SignedPrint[];
  readonly counted: number;
}

/**
 * Finds the last `limit` prints of at least `minPremium` dollars, and counts all prints of at least `minPremium` dollars. Earlier prints
 * are only summed. The sums include each contract's last price and last price change, which the tick rule needs.
 */
function* newestOf(tape: StoredTape, minPremium: number, limit: number): Steps<Newest> {
  const before = new TapeSummer();
  let last: { readonly stretch: Stretch; readonly fromMs: number; readonly sums: TapeSums; readonly count: number }[] =
    [];
  const addUp = function* (mostParts: number, since: number): Generator<Step, number> {
    let [counted, inLast, fromMs] = [0, 0, since];
    last = [];
    const take = (stretch: Stretch) => {
      const sums = minPremium > 0 ? sumsOf(stretch.columns(), minPremium) : stretch.sums();
      const count = printsIn(sums);
      last.push({ stretch, fromMs, sums, count });
      fromMs = stretch.toMs + 1;
      counted += count;
      inLast += count;
      for (; inLast - last[0]!.count >= limit; inLast -= last.shift()!.count) before.add(last[0]!.sums);
    };
    yield* forEachStretch(tape, mostParts, take, since);
    return counted;
  };
  const counted = yield* addUp(minPremium > 0 ? PARTS.one : PARTS.ofDay, 0);
  // Divides the last runs of prints into shorter runs, and sums the shorter runs. The shorter runs show more exactly where the newest
  // `limit` prints begin, so fewer prints must be read one by one.
  for (const mostParts of minPremium > 0 ? [] : [PARTS.many, PARTS.few, PARTS.one]) {
    if (last.length > 0) yield* addUp(mostParts, last[0]!.fromMs);
  }
  const moves = movesOf(before.sums());
  const newest: SignedPrint[] = [];
  for (const { stretch } of last) {
    yield { message: 'Reading the newest prints' };
    const prints = stretch.prints();
    yield { message: 'Finding the side of the newest prints' };
    for (const each of signPrints(prints, moves)) {
      if (premiumOf(each.print) >= minPremium && !rootOf(each.print.root).adjusted) newest.push(each);
    }
  }
  return { newest: newest.slice(-limit).reverse(), counted };
}

/** Counts prints. Leaves out prints of contracts with adjusted deliverables. */
function printsIn({ contracts, cells }: TapeSums): number {
  const isCounted = contracts.series.map(({ root }) => !rootOf(root).adjusted);
  return cells.contract.reduce(
    (sum, contract, cell) =>
      isCounted[contracts.seriesIndex[contract]!] ? sum + cells.values[cell * CELL.width + CELL.prints]! : sum,
    0,
  );
}
