import { describe, expect, test } from 'bun:test';
import { getWhalePrints } from '../../../src/operations/flow/whale-prints.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, print } from '../../analytics/small-chains.ts';
import { call, callExtended, type Holdings, refusalOf, smallMarket } from '../small-market.ts';

const DAY_MS = 86_400_000;
const EXPIRIES = ['2026-01-09', EXPIRY, LATER, '2026-03-20', '2026-06-19', '2028-01-21'];
const CHAIN = chainOf(EXPIRIES.map((expiry) => contract({ expiry, volume: 5, bid: 1, ask: 3 })));

function market(holdings: Partial<Holdings> = {}) {
  return smallMarket({ chains: [CHAIN], ...holdings }).context;
}

function ask(target_expiry: string, context = market()) {
  return call(getWhalePrints, { ticker: 'acme', target_expiry }, context);
}

const soldNote = (shares: string) => `call_fiat_paid and put_fiat_paid include options that customers sold: ${shares}`;

test('premium and contracts of calls and puts', () => {
  const prints = [
    print({ id: 'a', price: 5, size: 400 }),
    print({ id: 'b', price: 2.5, size: 1000, callPut: -1 }),
    print({ id: 'b', price: 2.5, size: 1000, callPut: -1 }),
    print({ id: 'small', price: 1, size: 999 }),
    print({ id: 'gone', canceled: true }),
    print({ id: 'old', at: AS_OF - 31 * DAY_MS }),
    print({ id: 'later', expiry: LATER }),
  ];
  const context = market({ prints });
  expect(ask(EXPIRY, context)).toEqual({
    ...{ net_fiat_exposure: 200_000 - 250_000, call_fiat_paid: 200_000, put_fiat_paid: 250_000 },
    net_volume_delta: -600,
  });
  expect(callExtended(getWhalePrints, { ticker: 'ACME', target_expiry: EXPIRY }, context)).toMatchObject({
    ...{ flow_from: 'prints', counted: 2, window_days: 30, min_premium: 100_000 },
    ...{ provenance: { notes: [soldNote('0 % of the premium was bought, 0 % sold, and 100 % is of unknown side.')] } },
  });
});

test('notes how much of the premium customers sold, because both fields include it', () => {
  const prints = [
    print({ id: 'a', side: 'ask', size: 400 }),
    print({ id: 'b', side: 'bid', size: 800 }),
    print({ id: 'c', side: 'bid', size: 400, callPut: -1 }),
    print({ id: 'd', size: 400, callPut: -1 }),
  ];
  expect(ask(EXPIRY, market({ prints }))).toMatchObject({ call_fiat_paid: 600_000, put_fiat_paid: 400_000 });
  expect(notesOf(EXPIRY, { prints })).toEqual([
    soldNote('20 % of the premium was bought, 60 % sold, and 20 % is of unknown side.'),
  ]);
});

test('notes the premium of contracts too deep in the money to express an opinion, if it is large', () => {
  const deep = (share: number) => {
    const prints = [
      print({ id: 'deep', delta: 0.95, price: share }),
      print({ id: 'other', delta: 0.5, price: 100 - share }),
    ];
    const extended = callExtended(getWhalePrints, { ticker: 'ACME', target_expiry: EXPIRY }, market({ prints }));
    return { ...extended, ...(extended.provenance as { notes: string[] }) } as Record<string, unknown>;
  };
  expect(deep(20)).toMatchObject({ deep_premium_pct: 20, notes: [expect.any(String)] });
  expect(deep(60)).toMatchObject({
    deep_premium_pct: 60,
    notes: [expect.any(String), expect.stringMatching(/^60 % of the premium/)],
  });
});

const ZEROS = { net_fiat_exposure: 0, call_fiat_paid: 0, put_fiat_paid: 0, net_volume_delta: 0 };

test('a listed expiry without prints: zeros', () => {
  expect(ask(LATER, market({ prints: [print()] }))).toEqual(ZEROS);
});

const notesOf = (target_expiry: string, holdings: Partial<Holdings>) => {
  const { provenance } = callExtended(getWhalePrints, { ticker: 'ACME', target_expiry }, market(holdings));
  return (provenance as { notes: string[] }).notes;
};

test.each<[string, Partial<Holdings>, string]>([
  [
    'large prints',
    {
      prints: [
        ...['2026-03-20', EXPIRY].map((expiry) => print({ id: expiry, expiry })),
        print({ id: 'settled', expiry: '2026-01-02', at: AS_OF - 4 * DAY_MS }),
        print({ id: 'small', expiry: '2026-06-19', size: 1 }),
      ],
    },
    '2026-02-20 has no large print in the last 30 days. Those with most premium: 2026-01-16, 2026-03-20.',
  ],
  [
    'only small prints',
    { prints: [print({ size: 1 })] },
    '2026-02-20 has no large print in the last 30 days. No unsettled expiry has any.',
  ],
  [
    'many expiries with large prints',
    {
      prints: ['2026-01-09', EXPIRY, '2026-03-20', '2026-06-19', '2028-01-21', '2027-01-15'].map((expiry, i) =>
        print({ id: expiry, expiry, size: 400 + i }),
      ),
    },
    '2026-02-20 has no large print in the last 30 days. Those with most premium: 2026-01-16, 2026-03-20, 2026-06-19, 2027-01-15, 2028-01-21.',
  ],
  [
    'volume of one other expiry',
    { chains: [chainOf([contract({ expiry: LATER }), contract({ volume: 5, bid: 1, ask: 3 })])] },
    '2026-02-20 has no volume in the last 30 days. Those with most premium: 2026-01-16.',
  ],
])('an expiry without trades says so, beside %s', (_what, holdings, note) => {
  expect(notesOf(LATER, holdings).filter((each) => each.startsWith(LATER))).toEqual([note]);
});

test('if all prints are too small to count, the flow still comes from prints', () => {
  expect(ask(EXPIRY, market({ prints: [print({ size: 1 })] }))).toEqual(ZEROS);
});

describe('without prints', () => {
  const snapshots = {
    chains: [
      CHAIN,
      chainOf([contract({ volume: 7, last: 4 }), contract({ callPut: -1, volume: 9, bid: 1, ask: 1 })], {
        asOf: AS_OF - DAY_MS,
      }),
    ],
  };

  test('values each contract-day’s volume at its mid instead, and the answer has a note', () => {
    const context = market(snapshots);
    expect(ask(EXPIRY, context)).toEqual({
      ...{ call_fiat_paid: 5 * 2 * 100 + 7 * 4 * 100, put_fiat_paid: 900, net_fiat_exposure: 2900 },
      net_volume_delta: 3,
    });
    const extended = callExtended(getWhalePrints, { ticker: 'ACME', target_expiry: EXPIRY }, context);
    expect(extended).toMatchObject({ flow_from: 'snapshots', counted: 3, min_premium: 0 });
    expect(extended.provenance).toMatchObject({ notes: [expect.stringContaining('no prints')] });
  });

  test('a listed expiry without volume: zeros', () => {
    const context = market({ chains: [chainOf([contract()])] });
    expect(ask(EXPIRY, context)).toEqual(ZEROS);
  });
});

describe('rejects an expiry that is not listed, with the nearest listed ones', () => {
  test.each([
    ['between two expiries', '2026-01-17', '2026-01-09, 2026-01-16, 2026-02-20, 2026-03-20'],
    ['long before', '1999-12-31', '2026-01-09, 2026-01-16, 2026-02-20, 2026-03-20'],
    ['long after', '2099-12-31', '2026-02-20, 2026-03-20, 2026-06-19, 2028-01-21'],
  ])('%s', (_what, expiry, nearest) => {
    expect(refusalOf(() => ask(expiry))).toEqual({
      code: 'unknown_expiry',
      message: `${expiry} is not a listed expiry of the ticker`,
      hint: `Use a listed expiry. Nearest listed: ${nearest}.`,
      fields: ['/target_expiry'],
    });
  });

  test('expiries that have settled since the quotes are named as settled', () => {
    const hint = (now: string) =>
      refusalOf(() => ask('2026-01-17', smallMarket({ chains: [CHAIN] }, Date.parse(now)).context)).hint;
    expect(hint('2026-02-01T00:00:00Z')).toBe(
      'Use a listed expiry. Nearest listed: 2026-02-20, 2026-03-20, 2026-06-19, 2028-01-21. Settled since the quotes: 2026-01-09, 2026-01-16.',
    );
  });

  test.each(['2026-02-30', '2026-02-29', '2026-04-31', '2026-13-01', '2026-00-10'])(
    'rejects %s, which is not a calendar date',
    (expiry) => {
      const refusal = refusalOf(() => ask(expiry));
      expect(refusal).toMatchObject({ code: 'invalid_body', fields: ['/target_expiry'] });
      expect(refusal.message).toBe('/target_expiry must be a date of the calendar');
      expect(refusal.hint).toStartWith('Use a listed expiry. Nearest listed: ');
    },
  );

  test.each(['2026-1-16', '20260116', '2026-01-16T00:00', '', '2026-20-01', '2026-01-41'])(
    'rejects %j, which is not a date',
    (expiry) => {
      expect(refusalOf(() => ask(expiry))).toMatchObject({ code: 'invalid_body', fields: ['/target_expiry'] });
    },
  );

  test('an expiry that only prints still have counts as listed', () => {
    const removed = '2026-01-02';
    const context = market({ prints: [print({ expiry: removed, at: AS_OF - 4 * DAY_MS })] });
    expect(ask(removed, context).call_fiat_paid).toBe(200_000);
    expect(notesOf(removed, { prints: [print({ expiry: removed, at: AS_OF - 4 * DAY_MS })] })).toEqual([
      `The expiry ${removed} has settled: its prints are of the past, and it has no levels or quotes.`,
      soldNote('0 % of the premium was bought, 0 % sold, and 100 % is of unknown side.'),
    ]);
    // Other tools refuse the expiry, so a refusal does not name it among the listed ones.
    expect(refusalOf(() => ask('2026-01-03', context)).hint).not.toContain(removed);
  });
});
