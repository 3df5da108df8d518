import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import type { Chain } from '../../../src/market/chain.ts';
import { greeksOf } from '../../../src/math/black-scholes.ts';
import { getHedgingProfile } from '../../../src/operations/gex/hedging-profile.ts';
import { AS_OF, chainOf, EXPIRY, LATER, quoted, range, TODAY, yearsTo } from '../../analytics/small-chains.ts';
import { closeWith } from '../../store/samples.ts';
import { tokensOf } from '../../support/tokens.ts';
import { callExtended, callRoute, performTool, refusalOf, smallMarket } from '../small-market.ts';

type Answer = Static<typeof getHedgingProfile.full>;

const ROWS = [
  ...quoted({ strikes: range(90, 110), rest: { openInterest: 400 } }).map((row) =>
    row.callPut === 1 ? row : { ...row, openInterest: 5 * (115 - row.strike) },
  ),
  ...quoted({ strikes: range(80, 120, 4), expiry: LATER, rest: { openInterest: 30 } }),
];
const CHAIN = chainOf(ROWS);

const marketOf = (chain: Chain = CHAIN) => smallMarket({ chains: [chain] }).context;
const ask = (args: object = {}, context = marketOf()) =>
  callExtended(getHedgingProfile, { ticker: 'ACME', ...args }, context) as Answer;

test('by default there are twelve moves, ascending, without the present spot', () => {
  const { rows } = ask();
  expect(rows.map(({ move_pct }) => move_pct)).toEqual([-5, -4, -3, -2, -1, -0.5, 0.5, 1, 2, 3, 4, 5]);
  expect(rows.map(({ spot }) => spot)).toEqual([95, 96, 97, 98, 99, 99.5, 100.5, 101, 102, 103, 104, 105]);
});

test('moves are put into order, and each is answered once', () => {
  expect(ask({ moves: [3, -1, 0, 3, -2.5] }).rows.map(({ move_pct }) => move_pct)).toEqual([-2.5, -1, 0, 3]);
});

test('a row has the shares that a single contract needs, their value, and gamma at that spot', () => {
  const put = quoted({ strikes: [96], iv: 0.3, rest: { openInterest: 70 } }).filter(({ callPut }) => callPut === -1);
  const { rows } = ask({ moves: [-4] }, marketOf(chainOf(put)));
  // Without a call, the forward is carried at the default rate.
  const at = (spot: number) =>
    greeksOf({ callPut: -1, spot, strike: 96, tte: yearsTo('ACME', EXPIRY), iv: 0.3, rate: 0.04, dividend: 0 });
  const shares = Math.round(70 * 100 * (at(96).delta - at(100).delta));
  expect(shares).toBeLessThan(-1_000);
  expect(rows).toEqual([
    {
      ...{ move_pct: -4, spot: 96, shares, dollars_mil: (shares * 96) / 1e6, volume_pct: null },
      net_gex_mil: expect.closeTo((-70 * 100 * at(96).gamma * 96 ** 2 * 0.01) / 1e6, 9),
      regime: 'undetermined',
    },
  ]);
});

describe('smile dynamics', () => {
  const skewed = chainOf(
    quoted({
      strikes: range(70, 140),
      expiry: LATER,
      iv: (strike) => 0.3 - 0.25 * Math.log(strike / 100),
      halfSpread: 0.001,
    }).map((row) => ({ ...row, openInterest: row.callPut === 1 ? 100 : 300 })),
  );
  const rowOf = (smile_dynamics?: string) =>
    ask({ moves: [-3], ...(smile_dynamics && { smile_dynamics }) }, marketOf(skewed)).rows[0]!;

  test("the rows have vanna's trade, unless strikes keep their volatilities", () => {
    expect(rowOf('sticky_strike')).toEqual(rowOf());
    expect(Object.keys(rowOf())).not.toContain('vanna_shares');
    const [lower, higher] = [rowOf('sticky_moneyness'), rowOf('ssr=1.5')];
    for (const row of [lower, higher])
      expect(Math.abs(row.shares - row.vanna_shares! - rowOf().shares)).toBeLessThanOrEqual(1);
    expect(lower.vanna_shares! * higher.vanna_shares!).toBeLessThan(0);
    // The ticker is no index, so `ssr` is sticky strike.
    expect(rowOf('ssr')).toEqual(rowOf());
  });

  test.each(['sticky_delta', 'ssr=2.6', 'ssr='])('rejects %j', (smile_dynamics) => {
    expect(refusalOf(() => rowOf(smile_dynamics)).fields).toEqual(['/smile_dynamics']);
    const route = () => callRoute(getHedgingProfile, { ticker: 'ACME', smile_dynamics }, marketOf());
    expect(refusalOf(route).fields).toEqual(['/smile_dynamics']);
  });
});

test('the row without a move trades nothing and has the gamma of the present spot', () => {
  const { rows, regime } = ask({ moves: [0] });
  expect(rows[0]).toMatchObject({ move_pct: 0, spot: 100, shares: 0, dollars_mil: 0, regime });
});

test.each<[number[], string[]]>([
  [[-0.05, 0.05], ['moves is in percent: 0.05 means 0.05 %, and 5 is 5 %.']],
  [[-0.05, 0.5], []],
  [[0], []],
  [[-5, 5], []],
])('the moves %p have the notes %j', (moves, notes) => {
  const { provenance } = performTool(getHedgingProfile, { ticker: 'ACME', moves }, marketOf());
  expect(provenance!.notes.filter((each) => each.startsWith('moves'))).toEqual(notes);
});

test('an unknown daily volume says why', () => {
  const { provenance } = performTool(getHedgingProfile, { ticker: 'ACME' }, marketOf());
  expect(provenance!.notes).toContain(
    'volume_pct is null, because no daily closes of ACME with a volume are stored up to the snapshot.',
  );
});

test('shares are compared with the average daily volume, if a close has a volume', () => {
  const closes = ['2025-12-31', '2026-01-02'].map((date, i) =>
    closeWith({ ticker: 'ACME', date, volume: 1_000 + 2_000 * i }),
  );
  const answer = ask({}, smallMarket({ chains: [CHAIN], closes }).context);
  expect(answer.average_daily_volume).toBe(2_000);
  for (const { shares, volume_pct } of answer.rows) expect(volume_pct).toBeCloseTo(Math.abs(shares) / 20, 9);
});

describe('expiry', () => {
  test('all is the default, and the expiries add up to it', () => {
    const [all, byDefault, near, far] = [{ expiry: 'all' }, {}, { expiry: EXPIRY }, { expiry: LATER }].map((args) =>
      ask(args),
    );
    expect(byDefault).toEqual(all!);
    expect([all, near, far].map((answer) => answer!.expiry)).toEqual(['all', EXPIRY, LATER]);
    all!.rows.forEach(({ shares }, i) => {
      expect(Math.abs(near!.rows[i]!.shares + far!.rows[i]!.shares - shares)).toBeLessThanOrEqual(1);
    });
  });

  test('over REST, the options of the analysis select expiries and positions', () => {
    const route = (args: object) => callRoute(getHedgingProfile, { ticker: 'ACME', ...args }, marketOf()) as Answer;
    const rowsOf = (args: object) => route(args).rows;
    const days = Math.ceil((yearsTo('ACME', EXPIRY) * 365.25 * 24 + 1) / 24);
    expect(rowsOf({ expiries: `next:${days}` })).toEqual(rowsOf({ expiry: EXPIRY }));
    expect(route({ expiries: `next:${days}` }).expiry).toBe(`next:${days}`);
    expect(rowsOf({ sign: 'short_both' })).not.toEqual(rowsOf({}));
    // Dealers who are short of all options buy into rises and sell into falls.
    for (const { move_pct, shares } of rowsOf({ sign: 'short_both' }))
      expect(Math.sign(shares)).toBe(Math.sign(move_pct));
    expect(refusalOf(() => route({ expiries: '0dte', expiry: EXPIRY })).fields).toEqual(['/expiry']);
  });

  test('0dte is the expiry on the day of the snapshot', () => {
    const chain = chainOf([...ROWS, ...quoted({ strikes: range(98, 102), expiry: TODAY, rest: { openInterest: 50 } })]);
    const answers = ['0dte', TODAY].map((expiry) => ask({ expiry }, marketOf(chain)));
    expect(answers[0]).toEqual({ ...answers[1]!, expiry: '0dte', options: { expiry: '0dte' } } as never);
  });

  test.each([['2026-01-23'], ['0dte']])('%s, which is not listed, names the nearest listed expiries', (expiry) => {
    const { code, hint, fields } = refusalOf(() => ask({ expiry }));
    expect([code, hint, fields]).toEqual(['unknown_expiry', `Nearest listed: ${EXPIRY}, ${LATER}.`, ['/expiry']]);
  });

  test('a date that the calendar does not have is refused', () => {
    expect(refusalOf(() => ask({ expiry: '2026-02-30' }))).toMatchObject({
      code: 'invalid_body',
      fields: ['/expiry'],
    });
  });
});

test.each([
  ['/moves must be an array of 1 to 41 items', { moves: [] }],
  ['/moves must be an array of 1 to 41 items', { moves: range(0, 41) }],
  ['/moves must be an array of 1 to 41 items', { moves: 2 }],
  ['/moves/1 must be a finite number, at least -50 and at most 50', { moves: [1, -51] }],
  ['/format must be one of "table", "image"', { format: 'png' }],
])('refuses arguments: %s', (message, args) => {
  expect(refusalOf(() => ask(args)).message).toContain(message);
});

test('states that gamma has one sign, and that the regime is undetermined', () => {
  const notesOf = (rows: typeof ROWS) =>
    performTool(getHedgingProfile, { ticker: 'ACME' }, marketOf(chainOf(rows))).provenance!.notes;
  expect(notesOf(ROWS.filter(({ callPut }) => callPut === 1)).join()).toContain('one sign within 50 % of spot');
  expect(notesOf(ROWS.map((row) => ({ ...row, openInterest: 100 }))).join()).toContain('regime is undetermined');
});

test('the default answer of the tool takes less than 1,000 tokens, the route has every field', () => {
  const { body, provenance } = performTool(getHedgingProfile, { ticker: 'ACME' }, marketOf());
  expect(Object.keys(body)).toEqual(['ticker', 'spot_price', 'expiry', 'gex_flip', 'rows']);
  expect(tokensOf({ ...body, provenance })).toBeLessThan(1_000);
  const { provenance: origin, ...every } = ask() as Answer & { provenance: { as_of: string } };
  expect(callRoute(getHedgingProfile, { ticker: 'ACME' }, marketOf())).toEqual({ as_of: origin.as_of, ...every });
});

describe('format', () => {
  const picture = (args: object) => performTool(getHedgingProfile, { ticker: 'ACME', ...args }, marketOf());

  test('image adds a picture to the same answer, and is the same for the same snapshot', () => {
    const { body, picture: drawn } = picture({ format: 'image' });
    expect(body).toEqual(picture({}).body);
    expect(drawn).toStartWith('<svg ');
    expect(picture({ format: 'image' }).picture).toEqual(drawn!);
    expect(picture({ format: 'image', moves: [1] }).picture).not.toEqual(drawn!);
  });

  test('table has none', () => {
    expect(picture({ format: 'table' }).picture).toBeUndefined();
    expect(picture({}).picture).toBeUndefined();
  });
});

test('a replay answers from the snapshot of that moment', () => {
  const before = chainOf(ROWS, { asOf: AS_OF - 86_400_000, spot: 98 });
  const context = smallMarket({ chains: [before, CHAIN] }).context;
  expect(ask({ at: new Date(AS_OF - 60_000).toISOString() }, context).spot_price).toBe(98);
  expect(ask({}, context).spot_price).toBe(100);
});
