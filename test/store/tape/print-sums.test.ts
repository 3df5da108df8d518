import { describe, expect, test } from 'bun:test';
import { randomOf as seeded } from '../../../src/feeds/simulated/random.ts';
import { type Print, type PrintSum, premiumOf, sumOf } from '../../../src/market/prints.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { DAY_MS, MONDAY_MS, printOf, withStore } from '../samples.ts';

/** Compares the sums by day with the prints themselves, for any order of prints and cancellations. */
const MIN = 100_000;

/** Prints of two weeks with a change to winter time: some small, some of adjusted deliverables, prices in cents and thirds. */
function tape(seed: number, count: number): Print[] {
  const random = seeded(seed, 1).uniform;
  const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!;
  return Array.from({ length: count }, (_, i) => ({
    ...printOf(`p${i}`),
    simulated: false,
    at: Date.UTC(2026, 9, 26) + Math.floor(random() * 14 * DAY_MS),
    ...{ root: pick(['SPX', 'SPXW', 'SPX1']), expiry: pick(['2026-11-20', '2026-12-18']) },
    ...{ callPut: pick([1, -1] as const), price: pick([0.01, 3.37, 12.05, 100 / 3]) },
    ...{ size: pick([1, 40, 333, 5_000]), multiplier: 100, side: pick(['ask', 'bid', 'mid', null] as const) },
    ...pick([
      { bid: null, ask: null },
      { bid: 3.3, ask: 3.44 },
      { bid: 3.4, ask: 3.3 },
      { bid: 1, ask: 2 },
    ]),
    ...{ delta: pick([null, 0.5, -0.95]), multiLeg: random() < 0.2, canceled: false },
  }));
}

function sumsOf(prints: readonly Print[]): Map<string, PrintSum> {
  const sums = new Map<string, PrintSum>();
  for (const print of prints) {
    if (print.canceled || print.root === 'SPX1' || premiumOf(print) < MIN) continue;
    const each = sumOf(print);
    const key = keyOf(each);
    const known = sums.get(key) ?? { ...each, prints: 0, contracts: 0, premium: 0 };
    sums.set(key, {
      ...known,
      prints: known.prints + 1,
      contracts: known.contracts + each.contracts,
      premium: known.premium + Math.round(each.premium * 10_000) / 10_000,
    });
  }
  return sums;
}

const keyOf = ({ root, expiry, callPut, side, multiLeg, deep }: PrintSum) =>
  `${root} ${expiry} ${callPut} ${side} ${multiLeg} ${deep}`;

function expectSums(store: Store, prints: readonly Print[], fromMs: number, toMs: number): void {
  const expected = sumsOf(prints.filter(({ at }) => at >= fromMs && at <= toMs));
  const found = new Map(store.printSums('SPX', fromMs, toMs, false, MIN).map((each) => [keyOf(each), each]));
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [key, { prints, contracts, premium }] of expected) {
    expect(found.get(key)).toMatchObject({ prints, contracts });
    expect(found.get(key)!.premium).toBeCloseTo(premium, 3);
  }
}

const WINDOWS: [name: string, fromMs: number, toMs: number][] = [
  ['all', 0, Number.MAX_SAFE_INTEGER],
  ['partial days at both ends', Date.UTC(2026, 9, 27, 15), Date.UTC(2026, 10, 5, 3)],
  ['whole days', Date.parse('2026-10-28T00:00:00-04:00'), Date.parse('2026-11-03T23:59:59.999-05:00')],
  ['within a day', Date.UTC(2026, 9, 29, 14), Date.UTC(2026, 9, 29, 15)],
  ['across midnight', Date.UTC(2026, 9, 29, 23), Date.UTC(2026, 9, 30, 9)],
  ['an empty range', Date.UTC(2027, 0, 1), Date.UTC(2027, 0, 2)],
];

describe.each([1, 2, 3])('tape %p', (seed) => {
  const prints = tape(seed, 2_000);
  const random = seeded(seed, 1).uniform;
  const shuffled = prints.map((print) => [random(), print] as const).toSorted((a, b) => a[0] - b[0]);
  const canceled = new Set(prints.filter(() => random() < 0.1).map(({ id }) => id));
  // Some prints are corrected: in size, in side, or in price so that they are no longer large.
  const corrected = prints.map((print, i) => {
    if (i % 17 !== 0) return print;
    return { ...print, ...([{ size: 77 }, { side: 'mid' as const }, { price: 0.01 }] as const)[i % 3]! };
  });
  const after = corrected.map((print) => ({ ...print, canceled: canceled.has(print.id) }));

  test.each(WINDOWS)(
    '%s: sums are right for any order, duplicates, and cancellations before and after',
    (_name, fromMs, toMs) =>
      withStore((store) => {
        store.sumPrintsFrom(MIN);
        // Some cancellations arrive before their prints.
        store.savePrints(after.filter(({ canceled }) => canceled).slice(0, 50));
        for (let i = 0; i < shuffled.length; i += 300)
          store.savePrints(shuffled.slice(i, i + 300).map(([, print]) => print));
        store.savePrints(prints);
        store.savePrints(after);
        store.savePrints(after);
        expectSums(store, after, fromMs, toMs);
      }),
  );

  test('sums are equal bit for bit for any order of arrival', () =>
    withStore((store) => {
      store.sumPrintsFrom(MIN);
      store.savePrints(shuffled.map(([, print]) => print));
      store.savePrints(after);
      const [, fromMs, toMs] = WINDOWS[1]!;
      const once = store.printSums('SPX', fromMs, toMs, false, MIN);
      // The sums recomputed from the stored prints, and the same read without stored sums.
      store.sumPrintsFrom(1);
      const byKey = (sums: readonly PrintSum[]) => sums.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
      expect(byKey(store.printSums('SPX', fromMs, toMs, false, MIN))).toEqual(byKey(once));
      store.sumPrintsFrom(MIN);
      expect(byKey(store.printSums('SPX', fromMs, toMs, false, MIN))).toEqual(byKey(once));
    }));
});

test('an existing database has its sums after sumPrintsFrom, and the same answers without them', () =>
  withStore((store) => {
    const prints = tape(4, 300);
    store.savePrints(prints);
    expectSums(store, prints, 0, Number.MAX_SAFE_INTEGER);
    store.sumPrintsFrom(MIN);
    expectSums(store, prints, 0, Number.MAX_SAFE_INTEGER);
  }));

test('sums simulated and recorded prints separately', () =>
  withStore((store) => {
    store.sumPrintsFrom(MIN);
    const print = { ...printOf('a'), at: MONDAY_MS, price: 100, size: 100, multiplier: 100, canceled: false };
    store.savePrints([
      { ...print, simulated: true },
      { ...print, simulated: false, size: 200 },
    ]);
    const of = (simulated: boolean) =>
      store.printSums(print.underlying, 0, MONDAY_MS, simulated, MIN).map(({ contracts }) => contracts);
    expect([of(true), of(false)]).toEqual([[100], [200]]);
  }));

test.each<[name: string, overrides: Partial<Print>, side: PrintSum['side']]>([
  ['the feed', { side: 'bid', price: 2, bid: 1, ask: 2 }, 'bid'],
  ['the quote: above the middle', { side: null, price: 1.6, bid: 1, ask: 2 }, 'ask'],
  ['the quote: below the middle', { side: null, price: 1.4, bid: 1, ask: 2 }, 'bid'],
  ['the quote: at the middle', { side: null, price: 1.5, bid: 1, ask: 2 }, 'mid'],
  ['none: the quote is crossed', { side: null, price: 1.5, bid: 2, ask: 1 }, 'none'],
  ['none: the quote is incomplete', { side: null, price: 1.5, bid: null, ask: 2 }, 'none'],
])('determines the side of a print by %s', (_name, overrides, side) => {
  expect(sumOf({ ...printOf('a'), ...overrides }).side).toBe(side);
});
