import { describe, expect, test } from 'bun:test';
import { ClientError } from '../../src/core/errors.ts';
import { buildChain, CONTRACTS_MAX } from '../../src/market/build-chain.ts';
import type { Series } from '../../src/market/chain.ts';
import type { ContractRow } from '../../src/market/contract-batch.ts';

const head = {
  ...{ underlying: 'SPX', asOf: Date.parse('2022-12-12T21:00:00Z'), spot: 3990, source: 'test', simulated: false },
};

function contract(overrides: Partial<ContractRow> = {}): ContractRow {
  const quote = { bid: 10, ask: 11, last: 10.5, volume: 3, openInterest: 100 };
  const model = { iv: 0.2, delta: 0.5, gamma: 0.001, multiplier: Number.NaN };
  return { root: 'SPX', expiry: '2022-12-16', callPut: 1, strike: 4000, ...quote, ...model, ...overrides };
}

test('orders series by settlement, then root, and rows by strike, calls first', () => {
  const chain = buildChain(head, [
    contract({ root: 'SPXW', callPut: -1, strike: 4100 }),
    contract({ root: 'SPXW', callPut: 1, strike: 4100 }),
    contract({ root: 'SPXW', callPut: -1, strike: 3900 }),
    contract({ root: 'SPX' }),
    contract({ root: 'SPXW', expiry: '2022-12-12' }),
    contract({ root: 'SPX1', expiry: '2022-12-12' }),
  ]);
  expect(chain.series).toEqual([
    ...[series('SPX1', '2022-12-12', 'PM', '2022-12-12T21:00:00Z', 0, 1, true)],
    ...[series('SPXW', '2022-12-12', 'PM', '2022-12-12T21:00:00Z', 1, 2)],
    ...[series('SPX', '2022-12-16', 'AM', '2022-12-16T14:30:00Z', 2, 3)],
    ...[series('SPXW', '2022-12-16', 'PM', '2022-12-16T21:00:00Z', 3, 6)],
  ]);
  expect([...chain.seriesIndex]).toEqual([0, 1, 2, 3, 3, 3]);
  expect([...chain.strike.slice(3)]).toEqual([3900, 4100, 4100]);
  expect([...chain.callPut.slice(3)]).toEqual([-1, 1, -1]);
  expect(chain.count).toBe(6);
  expect(chain.refused).toEqual({});
});

function series(
  root: string,
  expiry: string,
  settlement: string,
  at: string,
  start: number,
  end: number,
  adjusted = false,
) {
  return { root, expiry, settlement, settlesAt: Date.parse(at), adjusted, start, end } as Series;
}

test('passes values through, and shares per contract default to 100', () => {
  const chain = buildChain(head, [contract(), contract({ callPut: -1, delta: -0.5, multiplier: 10 })]);
  expect([...chain.bid, ...chain.ask, ...chain.last]).toEqual([10, 10, 11, 11, 10.5, 10.5]);
  expect([...chain.volume, ...chain.openInterest]).toEqual([3, 3, 100, 100]);
  expect([...chain.iv, ...chain.gamma, ...chain.delta]).toEqual([0.2, 0.2, 0.001, 0.001, 0.5, -0.5]);
  expect([...chain.multiplier]).toEqual([100, 10]);
});

describe('a bad optional value becomes "not given" and is counted', () => {
  test.each([
    ['bid', -1],
    ['ask', Number.POSITIVE_INFINITY],
    ['last', 1e10],
    ['volume', -3],
    ['openInterest', -100],
    ['iv', -0.2],
    ['iv', 101],
    ['delta', 1.5],
    ['delta', Number.NEGATIVE_INFINITY],
    ['gamma', -0.1],
  ] as const)('%s of %p', (field, value) => {
    const chain = buildChain(head, [contract({ [field]: value })]);
    expect(chain[field][0]).toBeNaN();
    expect(chain.refused).toEqual({ bad_value: 1 });
  });

  test('shares per contract of 0 or below become 100', () => {
    expect(buildChain(head, [contract({ multiplier: -1 })]).multiplier[0]).toBe(100);
    expect(buildChain(head, [contract({ multiplier: 0 })]).multiplier[0]).toBe(100);
  });

  test('an IV of 0 counts as not given, which is not an error', () => {
    const chain = buildChain(head, [contract({ iv: 0 })]);
    expect(chain.iv[0]).toBeNaN();
    expect(chain.refused).toEqual({});
  });

  test('a contract without any optional value is accepted', () => {
    const names = ['bid', 'ask', 'last', 'volume', 'openInterest', 'iv', 'delta', 'gamma'];
    const empty = Object.fromEntries(names.map((name) => [name, Number.NaN]));
    const chain = buildChain(head, [contract(empty)]);
    expect(chain.count).toBe(1);
    expect(chain.refused).toEqual({});
  });
});

describe('rejects a row with an impossible contract', () => {
  test.each([
    ['strike', 0, 'bad_contract'],
    ['strike', -5, 'bad_contract'],
    ['strike', Number.NaN, 'bad_contract'],
    ['strike', Number.POSITIVE_INFINITY, 'bad_contract'],
    ['strike', 100_000, 'bad_contract'],
    ['callPut', 0, 'bad_contract'],
    ['callPut', Number.NaN, 'bad_contract'],
    ['expiry', '2022-02-30', 'bad_contract'],
    ['expiry', '', 'bad_contract'],
    ['root', 'SPY', 'foreign_underlying'],
  ] as const)('%s %p: %s', (field, value, reason) => {
    const chain = buildChain(head, [contract({ strike: 4200 }), contract({ [field]: value })]);
    expect(chain.count).toBe(1);
    expect(chain.strike[0]).toBe(4200);
    expect(chain.refused).toEqual({ [reason]: 1 });
  });

  test('of a duplicated contract the first row counts', () => {
    const chain = buildChain(head, [contract({ bid: 1 }), contract({ bid: 2 }), contract({ bid: 3, callPut: -1 })]);
    expect([...chain.bid]).toEqual([1, 3]);
    expect(chain.refused).toEqual({ duplicate: 1 });
  });

  test('of duplicates in any order the first row counts, and rows are in order', () => {
    const given = [105, 100, 105, 95, 100, 105].map((strike, bid) => [
      contract({ strike, bid, callPut: -1 }),
      contract({ strike, bid: bid + 10 }),
    ]);
    const chain = buildChain(head, given.flat());
    expect([...chain.strike]).toEqual([95, 95, 100, 100, 105, 105]);
    expect([...chain.callPut]).toEqual([1, -1, 1, -1, 1, -1]);
    expect([...chain.bid]).toEqual([13, 3, 11, 1, 10, 0]);
    expect(chain.refused).toEqual({ duplicate: 6 });
  });

  test('adds its rejections to those of the feed', () => {
    const refused = { bad_symbol: 4, duplicate: 1 };
    const chain = buildChain({ ...head, refused }, [contract(), contract()]);
    expect(chain.refused).toEqual({ bad_symbol: 4, duplicate: 2 });
  });
});

describe('builds no chain from', () => {
  const rows = [contract()];
  test.each([
    ['no rows', head, [], /no usable rows/],
    [
      'only bad rows, and the error names the reason',
      head,
      [contract({ strike: 0 })],
      /no usable rows \(1 bad_contract\)/,
    ],
    ['a spot of zero', { ...head, spot: 0 }, rows, /spot/],
    ['an unknown spot', { ...head, spot: Number.NaN }, rows, /spot/],
    ['a spot beyond the bound', { ...head, spot: 1e10 }, rows, /spot/],
    ['no time', { ...head, asOf: Number.NaN }, rows, /time/],
  ])('%s', (_what, bad, given, message) => {
    expect(() => buildChain(bad, given)).toThrow(message);
    expect(() => buildChain(bad, given)).toThrow(ClientError);
  });

  test('more contracts than the limit of a chain', () => {
    function* many() {
      for (let i = 0; i <= CONTRACTS_MAX; i++) yield contract({ strike: 1 + i / 10 });
    }
    expect(() => buildChain(head, many())).toThrow(/more than 200000 contracts/);
  });
});

describe('refuses a chain whose rows cannot be those of one chain', () => {
  const strikes = Array.from({ length: 40 }, (_, i) => 3_800 + 10 * i);
  /** Calls and puts with quotes by put-call parity. `side` is 1 for true quotes, and -1 for those of the other side. */
  const pairs = (overrides: (i: number) => Partial<ContractRow> = () => ({}), side = 1) =>
    strikes.flatMap((strike, i) =>
      [1, -1].map((callPut) => {
        const bid = 20 + Math.max(0, side * callPut * (3_990 - strike));
        return contract({ strike, callPut, bid, ask: bid + 1, ...overrides(i) });
      }),
    );

  test.each<[string, () => ContractRow[], RegExp]>([
    [
      'a quarter without a strike',
      () => pairs((i) => (i % 4 ? {} : { strike: Number.NaN })),
      /^20 of 80 rows cannot be read \(20 bad_contract\)$/,
    ],
    [
      'other quotes in a second row',
      () => [...pairs(), ...pairs((i) => (i < 9 ? { bid: 1 } : {}))],
      /^18 of 160 rows repeat a contract with other quotes/,
    ],
    [
      'bids above asks',
      () => pairs((i) => (i < 25 ? { bid: 30, ask: 29 } : {})),
      /^bid and ask are swapped: the bid of 50 of 80 quotes is above the ask/,
    ],
    [
      'bids in words',
      () => pairs((i) => (i < 5 ? { bid: Number.POSITIVE_INFINITY } : {})),
      /^the bid of 10 of 80 contracts is not a number/,
    ],
    ['calls and puts swapped', () => pairs(undefined, -1), /^calls and puts are swapped: at 39 of 39 strikes/],
  ])('%s', (_what, rows, message) => {
    expect(() => buildChain(head, rows())).toThrow(message);
    expect(() => buildChain(head, rows())).toThrow(ClientError);
  });

  test.each<[string, () => ContractRow[], Record<string, number>]>([
    ['true quotes', () => pairs(), {}],
    ['a few rows without a strike', () => pairs((i) => (i < 4 ? { strike: Number.NaN } : {})), { bad_contract: 8 }],
    ['rows that stand twice', () => [...pairs(), ...pairs()], { duplicate: 80 }],
    ['some rows with other quotes', () => [...pairs(), ...pairs((i) => (i < 8 ? { bid: 1 } : {}))], { duplicate: 80 }],
    ['swapped sides of nine pairs', () => pairs(undefined, -1).slice(0, 20), {}],
    ['bids of -1', () => pairs(() => ({ bid: -1 })), { bad_value: 80 }],
    ['some bids above asks', () => pairs((i) => (i < 20 ? { bid: 30, ask: 29 } : {})), {}],
    ['swapped sides without bids', () => pairs(() => ({ bid: 0 }), -1), {}],
  ])('accepts %s', (_what, rows, refused) => {
    expect(buildChain(head, rows()).refused).toEqual(refused);
  });
});
