import { describe, expect, test } from 'bun:test';
import { signPrints } from '../../../src/analytics/flow/trade-side.ts';
import type { Print } from '../../../src/market/prints.ts';
import { simulatedTape } from '../simulated-tape.ts';
import { LATER, print } from '../small-chains.ts';

const sides = (...prints: Partial<Print>[]): (number | string)[][] =>
  Array.from(signPrints(prints.map((each) => print(each))), ({ aggressor, by }) => [aggressor, by]);
const last = (...prints: Partial<Print>[]) => sides(...prints).at(-1)!;
const QUOTE = { bid: 1, ask: 1.2 };

describe('one print', () => {
  test.each<[string, Partial<Print>, [number, string]]>([
    ['the feed says ask', { side: 'ask' }, [1, 'feed']],
    ['the feed says bid', { side: 'bid' }, [-1, 'feed']],
    ['the feed takes precedence over the quote', { side: 'bid', price: 1.2, ...QUOTE }, [-1, 'feed']],
    ['at the ask', { price: 1.2, ...QUOTE }, [1, 'quote']],
    ['above the ask', { price: 1.3, ...QUOTE }, [1, 'quote']],
    ['inside, nearer the ask', { price: 1.11, ...QUOTE }, [1, 'quote']],
    ['inside, nearer the bid', { price: 1.09, ...QUOTE }, [-1, 'quote']],
    ['at the bid', { price: 1, ...QUOTE }, [-1, 'quote']],
    ['the feed says mid, so the quote decides', { side: 'mid', price: 1.15, ...QUOTE }, [1, 'quote']],
    ['a bid of 0', { price: 0.05, bid: 0, ask: 0.05 }, [1, 'quote']],
    ['at the middle', { price: 1.1, ...QUOTE }, [0, 'unknown']],
    ['at the middle within rounding', { price: 0.1 + 0.2, bid: 0.2, ask: 0.4 }, [0, 'unknown']],
    ['no quote', { price: 1.1 }, [0, 'unknown']],
    ['a locked quote decides nothing', { price: 1.3, bid: 1.2, ask: 1.2 }, [0, 'unknown']],
    ['a crossed quote decides nothing', { price: 1.3, bid: 1.3, ask: 1.2 }, [0, 'unknown']],
    ['a one-sided quote decides nothing', { price: 1.3, bid: 1.2, ask: null }, [0, 'unknown']],
  ])('%s', (_what, its, expected) => {
    expect(last(its)).toEqual(expected);
  });
});

describe('after other prints of the contract', () => {
  test.each<[string, Partial<Print>[], [number, string]]>([
    ['a rise in price', [{ price: 1 }, { price: 1.1 }], [1, 'tick']],
    ['a fall in price', [{ price: 1 }, { price: 0.9 }], [-1, 'tick']],
    ['no change repeats the last direction', [{ price: 1 }, { price: 1.1 }, { price: 1.1 }], [1, 'tick']],
    ['never a change', [{ price: 1 }, { price: 1 }], [0, 'unknown']],
    ['a change below the rounding of a double is no change', [{ price: 0.3 }, { price: 0.1 + 0.2 }], [0, 'unknown']],
    ['the quote takes precedence', [{ price: 2 }, { price: 1.2, ...QUOTE }], [1, 'quote']],
    [
      'a rise of the quote',
      [
        { price: 1.2, ...QUOTE },
        { price: 1.2, bid: 1.1, ask: 1.3 },
      ],
      [1, 'tick'],
    ],
    [
      'a trade at the middle after a purchase is no fall',
      [
        { price: 1.2, ...QUOTE },
        { price: 1.1, ...QUOTE },
      ],
      [0, 'unknown'],
    ],
    [
      'compares prices if one of the two prints has no quote',
      [{ price: 3, bid: 1, ask: 3 }, { price: 2.5 }],
      [-1, 'tick'],
    ],
    [
      'compares middles if both prints have quotes',
      [{ price: 1.2, ...QUOTE }, { price: 1.15 }, { price: 1.1, ...QUOTE }, { price: 1.1, ...QUOTE }],
      [-1, 'tick'],
    ],
    ['another strike does not count', [{ price: 1, strike: 90 }, { price: 1.1 }], [0, 'unknown']],
    ['another expiry does not count', [{ price: 1, expiry: LATER }, { price: 1.1 }], [0, 'unknown']],
    ['the put does not count', [{ price: 1, callPut: -1 }, { price: 1.1 }], [0, 'unknown']],
    ['another root does not count', [{ price: 1, root: 'ACMEW' }, { price: 1.1 }], [0, 'unknown']],
  ])('%s', (_what, prints, expected) => {
    expect(last(...prints)).toEqual(expected);
  });
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])('finds the sides of a simulated tape that gives none, seed %p', (seed) => {
  const { trades } = simulatedTape(seed);
  const signed = [...signPrints(trades.map((each) => each.print))];
  const found = (atMid: boolean) => {
    const among = trades.flatMap((trade, i) => (trade.atMid === atMid ? [trade.truth * signed[i]!.aggressor] : []));
    return { count: among.length, right: among.filter((each) => each === 1).length / among.length };
  };
  expect(found(false).count).toBeGreaterThan(1_000);
  expect(found(false).right).toBeGreaterThanOrEqual(0.95);
  // More than half are right even if the quote is indecisive.
  expect(found(true).right).toBeGreaterThan(0.5);
});
