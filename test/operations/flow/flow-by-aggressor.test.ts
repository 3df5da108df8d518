import { describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/market/calendar.ts';
import type { Print } from '../../../src/market/prints.ts';
import { getFlowByAggressor } from '../../../src/operations/flow/flow-by-aggressor.ts';
import { getSignedPrints } from '../../../src/operations/flow/signed-prints.ts';
import { AS_OF, chainOf, LATER, print, quoted } from '../../analytics/small-chains.ts';
import { performRoute, smallMarket } from '../small-market.ts';

/** The previous day in New York, but the same day in UTC. */
const EVENING = Date.parse('2026-01-05T02:00:00Z');
const CHAIN = chainOf(quoted({ strikes: [95, 100, 105], rest: { openInterest: 100 } }));

/** 5.00 a share, 10 contracts: 5,000 dollars. Delta 0.5: 50,000 dollars. */
const each = (id: number, its: Partial<Print>) => print({ id: `p${id}`, size: 10, delta: 0.5, ...its });
const PRINTS = [
  each(1, { side: 'ask' }),
  each(2, { side: 'bid', sweep: true }),
  each(3, { callPut: -1, delta: -0.5, price: 6, bid: 5, ask: 6, block: true }),
  each(4, { callPut: -1, delta: -0.5, side: 'bid', multiLeg: true, sweep: true, at: EVENING }),
  each(5, { strike: 105, expiry: LATER }),
  each(6, { side: 'ask', at: AS_OF - 40 * DAY_MS }),
  each(7, { side: 'ask', canceled: true }),
  each(8, { side: 'ask', root: 'ACME1' }),
];

type Columns = Record<string, (number | string | null)[]> & { count: number };

function ask(operation: unknown, args: object = {}, prints: readonly Print[] = PRINTS) {
  return performRoute(operation, { ticker: 'ACME', ...args }, smallMarket({ chains: [CHAIN], prints }).context);
}

/** A row of columns, without its count. */
function row({ count: _, ...columns }: Columns, i: number) {
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[i]]));
}

describe('flow by aggressor', () => {
  const flow = (args?: object) => ask(getFlowByAggressor, args).body as Record<string, Columns>;

  test('premium by side for calls and puts, and the delta taken on', () => {
    const { by_manner, signed_by } = flow();
    expect(row(by_manner!, by_manner!.manner!.indexOf('all'))).toEqual({
      ...{ manner: 'all', prints: 5, contracts: 50, premium: 26_000 },
      ...{ call_bought: 5_000, call_sold: 5_000, put_bought: 6_000, put_sold: 5_000, unsigned: 5_000 },
      // The calls cancel out, and so do the puts. The unsigned print counts for no side.
      net_delta: 0,
    });
    expect(signed_by as unknown).toEqual({ feed: 3, quote: 1, tick: 0, unknown: 1 });
  });

  test('by manner: a leg of a spread takes precedence over the other manners', () => {
    const { by_manner } = flow();
    expect(by_manner!.manner).toEqual(['multi_leg', 'sweep', 'block', 'single', 'all']);
    expect(by_manner!.put_sold).toEqual([5_000, 0, 0, 0, 5_000]);
    expect(by_manner!.call_sold).toEqual([0, 5_000, 0, 0, 5_000]);
    expect(by_manner!.put_bought).toEqual([0, 0, 6_000, 0, 6_000]);
    expect(by_manner!.net_delta).toEqual([50_000, -50_000, -50_000, 50_000, 0]);
  });

  test('by day and by expiry, in order', () => {
    const { by_day, by_expiry } = flow();
    expect(by_day!.day).toEqual(['2026-01-04', '2026-01-05']);
    expect(by_day!.prints).toEqual([1, 4]);
    expect(by_expiry!.expiry).toEqual(['2026-01-16', LATER]);
    expect(by_expiry!.unsigned).toEqual([0, 5_000]);
  });

  test('takes a missing delta of the feed from the chain', () => {
    const { body } = ask(getFlowByAggressor, {}, [each(1, { side: 'ask', delta: null })]);
    const { by_day } = body as Record<string, Columns>;
    expect(by_day!.net_delta![0]).toBeWithin(51_000, 54_000);
    const removed = ask(getFlowByAggressor, {}, [each(1, { side: 'ask', delta: null, strike: 1 })]).body;
    expect((removed as Record<string, Columns>).by_day!.net_delta).toEqual([0]);
  });

  test.each([
    ['days', { days: 60 }, 6],
    ['minimum premium', { min_premium: 5_500 }, 1],
  ])('filters by %s', (_what, args, prints) => {
    expect(flow(args).by_manner!.prints!.at(-1)).toBe(prints);
  });

  test('without prints: zeros and a note', () => {
    const { body, provenance } = ask(getFlowByAggressor, {}, []);
    expect((body as Record<string, Columns>).by_manner!.premium).toEqual([0, 0, 0, 0, 0]);
    expect((body as Record<string, Columns>).by_day!.count).toBe(0);
    expect(provenance!.notes).toEqual(['The ticker has no prints, so its flow is not known.']);
  });
});

describe('signed prints', () => {
  test('newest first, with the source of the side', () => {
    const { body } = ask(getSignedPrints, { limit: 4 });
    const prints = body as unknown as Columns;
    expect([prints.count, prints.of as unknown]).toEqual([4, 5]);
    expect(prints.put_call).toEqual(['C', 'P', 'C', 'C']);
    expect(prints.aggressor).toEqual(['unknown', 'buyer', 'seller', 'buyer']);
    expect(prints.signed_by).toEqual(['unknown', 'quote', 'feed', 'feed']);
    expect(prints.manner).toEqual(['single', 'block', 'sweep', 'single']);
    expect(row(prints, 1)).toMatchObject({
      ...{ at: '2026-01-05T20:00:00.000Z', premium: 6_000, bid: 5, ask: 6, delta: -0.5 },
    });
  });

  test('if there are more prints than the limit, returns the newest', () => {
    const many = Array.from({ length: 10_050 }, (_, i) =>
      each(i, { side: 'ask', size: 1, at: AS_OF - 20_000 + i, price: 1 + i / 1_000 }),
    );
    const prints = ask(getSignedPrints, { limit: 3 }, many).body as unknown as Columns;
    expect([prints.count, prints.of as unknown]).toEqual([3, 10_050]);
    expect(prints.price).toEqual([11.049, 11.048, 11.047]);
  });
});
