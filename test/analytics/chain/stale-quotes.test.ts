import { describe, expect, test } from 'bun:test';
import { mid } from '../../../src/analytics/chain/quotes.ts';
import { staleQuotes } from '../../../src/analytics/chain/stale-quotes.ts';
import { generator } from '../../../src/bench/workloads.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { chainOf, contract, prepared, quoted } from '../small-chains.ts';

describe('a wing of calls', () => {
  // The quotes as bid/ask, nearest the money first, and the positions of the stale ones.
  test.each<[string, string, number[]]>([
    ['falling prices', '5/5.2 4/4.2 3/3.2 2/2.2', []],
    ['equal prices', '5/5.2 5/5.2 5/5.2', []],
    ['a rise within the spread and a tick', '5/5.2 5.21/5.4 5.2/5.4', []],
    ['a stale block whose quotes agree with each other', '5/5.2 4/4.2 19/21 18/20 17/19', [2, 3, 4]],
    ['one quote that is too high', '5/5.2 4/4.2 9/9.2 3/3.2', [2]],
    ['one quote that is too low', '5/5.2 4/4.2 0.1/0.2 3/3.2 2/2.2', [2]],
    ['two quotes that contradict each other: the nearer one is used', '5/5.2 9/9.2', [1]],
    ['a one-sided quote contradicts no other', '5/5.2 4/4.2 0/9 3/3.2', []],
  ])('%s', (_name, quotes, stale) => {
    const rows = quotes.split(' ').map((quote, i) => {
      const [bid, ask] = quote.split('/').map(Number) as [number, number];
      return contract({ strike: 100 + i, callPut: 1, bid, ask });
    });
    expect(staleQuotes(chainOf(rows), [...rows.keys()], 0.01).sort()).toEqual(stale);
  });

  test('an empty wing', () => {
    expect(staleQuotes(chainOf([contract({ strike: 100 })]), [], 0.01)).toEqual([]);
  });
});

test('stale quotes are left out of the smile, but their contracts have the volatility they imply', () => {
  const strikes = Array.from({ length: 21 }, (_, i) => 90 + i);
  const dead = quoted({ strikes: [112, 113], iv: 3 });
  const ready = prepared([...quoted({ strikes, halfSpread: 0.01 }), ...dead]);
  expect(ready.counts.stale_quotes).toBe(2);
  const smile = ready.series[0]!.smile;
  expect(Math.max(...smile.logMoneyness)).toBeLessThan(Math.log(111 / ready.series[0]!.forward));
  expect(ready.iv[ready.strike.indexOf(112)]).toBeCloseTo(3, 1);
});

test('finds the same stale quotes as a comparison of each with all before it, in any order', () => {
  const random = generator(11);
  let contradicted = 0;
  for (let wing = 0; wing < 2_000; wing++) {
    const quotes = Array.from({ length: 2 + Math.floor(30 * random()) }, () => {
      const bid = Math.round(10 * random()) / 2;
      return { bid, ask: bid + 0.5 * Math.floor(4 * random()) };
    });
    const chain = chainOf(quotes.map(({ bid, ask }, i) => contract({ strike: 100 + i, bid, ask })));
    const rows = Array.from({ length: chain.count }, (_, row) => row);
    const expected = comparedWithAll(chain, rows);
    contradicted += expected.length;
    expect(staleQuotes(chain, rows, 0.01)).toEqual(expected);
  }
  expect(contradicted).toBeGreaterThan(1_000);
});

/** The rule as documented, in time quadratic in the number of quotes. */
function comparedWithAll(chain: Chain, wing: readonly number[]): number[] {
  const stale: number[] = [];
  let fresh: number[] = [];
  for (const row of wing) {
    if (Number.isNaN(mid(chain, row))) continue;
    const against = fresh.filter((near) => chain.bid[row]! - 0.01 > chain.ask[near]!);
    if (against.length > 1 || (against.length === 1 && fresh.length === 1)) {
      stale.push(row);
      continue;
    }
    stale.push(...against);
    fresh = [...fresh.filter((near) => !against.includes(near)), row];
  }
  return stale;
}
