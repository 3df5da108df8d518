import { describe, expect, test } from 'bun:test';
import type { AnalysisOptions } from '../../../src/analytics/chain/options.ts';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Close } from '../../../src/market/prints.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { customerPositionsOf } from '../../../src/operations/reading/dealer-sign.ts';
import {
  AS_OF,
  chainOf,
  contract,
  EXPIRY,
  LATER,
  preparedChain,
  print,
  quoted,
  range,
  TODAY,
} from '../../analytics/small-chains.ts';
import { closeWith } from '../../store/samples.ts';
import { call, callExtended, type Holdings, performRoute, refusalOf, smallMarket } from '../small-market.ts';

const CHAIN = chainOf([
  ...quoted({ strikes: range(90, 110), dividend: 0.02 }).map((row) => ({
    ...row,
    openInterest: row.callPut === 1 ? row.strike - 85 : 2 * (115 - row.strike),
  })),
  ...quoted({ strikes: [95, 105], expiry: LATER, rest: { openInterest: 3 } }),
  contract({ expiry: TODAY, openInterest: 1 }),
  contract({ root: 'ACME1', openInterest: 1 }),
]);

function market(prints = [print({ expiry: LATER })]) {
  return smallMarket({ chains: [CHAIN], prints }).context;
}

/** The extended answer for a chain. */
const nodesOf = (chain: Chain, holdings: Holdings = {}) =>
  callExtended(getLiveGexNodes, { ticker: 'ACME' }, smallMarket({ chains: [chain], ...holdings }).context);
const levelsOf = (chain: Chain, options: Partial<AnalysisOptions> = {}, premium = new Map<string, number>()) =>
  runToCompletion(gexLevels(preparedChain(chain, options), premium));

const LEVELS = levelsOf(CHAIN, {}, new Map([[`ACME ${LATER}`, 1]]));
const COMMON = {
  ...{ ticker: 'ACME', spot_price: 100, max_pain: LEVELS.maxPain, call_wall: LEVELS.walls.call.strike },
  ...{ put_wall: LEVELS.walls.put.strike, gex_flip: LEVELS.flip.level },
};

describe('a wall whose net gamma has the other sign has a note', () => {
  /** A call wall at 105 and a put wall at 95, with this open interest of the call and the put at each. */
  const notesOf = (atCallWall: [number, number], atPutWall: [number, number], args: object = {}) => {
    const rows = quoted({ strikes: [95, 105] }).map((row) => {
      const [calls, puts] = row.strike === 105 ? atCallWall : atPutWall;
      return { ...row, openInterest: row.callPut === 1 ? calls : puts };
    });
    // Customers have bought calls at the call wall, so dealers are short there if the sign is by flow.
    const { context } = smallMarket({ chains: [chainOf(rows)], prints: [print({ strike: 105, side: 'ask' })] });
    const { provenance } = performRoute(getLiveGexNodes, { ticker: 'ACME', ...args }, context);
    return provenance!.notes.filter((each) => each.includes('outweigh'));
  };
  const [CALLS, PUTS] = [
    expect.stringMatching(
      /^At the call wall 105, puts outweigh calls: its net gamma is -\d.* which amplifies moves\.$/,
    ),
    expect.stringMatching(/^At the put wall 95, calls outweigh puts: its net gamma is \d.* which damps moves\.$/),
  ];
  test.each<[string, [number, number], [number, number], unknown[]]>([
    ['neither', [9, 1], [1, 9], []],
    ['the call wall', [9, 10], [1, 9], [CALLS]],
    ['the put wall', [9, 1], [10, 9], [PUTS]],
    ['both', [9, 10], [10, 9], [CALLS, PUTS]],
  ])('%s', (_what, atCallWall, atPutWall, expected) => {
    expect(notesOf(atCallWall, atPutWall)).toEqual(expected as string[]);
  });

  test('not for positions by flow, whose signs differ', () => {
    expect(notesOf([9, 10], [10, 9], { sign: 'flow' })).toEqual([]);
  });
});

describe('what the chain lacks is named', () => {
  const strikes = range(90, 110);
  const both = quoted({ strikes, rest: { openInterest: 10 } });
  const today = quoted({ strikes, expiry: TODAY, rest: { openInterest: 10 } });
  const unquoted = today.map((row) => ({ ...row, bid: 0 }));
  const ofSide = (side: number) => both.filter(({ callPut }) => callPut === side);
  test.each([
    ['neither side', both, []],
    ['puts', ofSide(1), ['No put has gamma: the put wall is only the strike nearest spot.']],
    ['calls', ofSide(-1), ['No call has gamma: the call wall is only the strike nearest spot.']],
    [
      'quotes of the day',
      [...both, ...unquoted],
      [`No contract that expires on ${TODAY} has gamma: zero_dte is null.`],
    ],
    ['a few quotes of the day', [...both, ...unquoted.slice(4), ...today.slice(0, 4)], []],
  ])('%s', (_what, rows, expected) => {
    const { provenance, zero_dte } = callExtended(
      getLiveGexNodes,
      { ticker: 'ACME' },
      smallMarket({ chains: [chainOf(rows)] }).context,
    ) as { provenance: { notes: string[] }; zero_dte: object | null };
    expect(provenance.notes.filter((each) => /^No .* has gamma: /.test(each))).toEqual(expected);
    expect(zero_dte !== null).toBe(rows.some((row) => row.expiry === TODAY && row.bid > 0));
  });
});

test('the tool names the date whale_expiry and omits net GEX', () => {
  const answer = call(getLiveGexNodes, { ticker: 'acme' }, market());
  expect(answer).toEqual({ ...COMMON, whale_expiry: LATER });
});

test('the route names the date expiry and returns net GEX in millions', () => {
  const { body, provenance } = performRoute(getLiveGexNodes, { ticker: 'ACME' }, market());
  expect(body).toEqual({ ...COMMON, expiry: LATER, net_gex_mil: LEVELS.exposures.gex / 1e6 });
  expect(provenance).toMatchObject({ source: 'test', as_of: '2026-01-05T20:00:00.000Z' });
});

test('the extended answer explains how it was computed', () => {
  const answer = callExtended(getLiveGexNodes, { ticker: 'ACME' }, market());
  expect(answer).toMatchObject({
    ...{ expiry: LATER, expiry_root: 'ACME', expiry_chosen_by: 'large_prints', flip_resolved: true },
    ...{ regime: 'undetermined', regime_probability: LEVELS.exposures.signProbability },
    gross_gex_mil: LEVELS.exposures.grossGex / 1e6,
    contracts: {
      contracts: 48,
      used: 47,
      left_out: { settled: 0, adjusted: 1, other_expiry: 0, no_volatility: 1 },
      iv: { taken: 0, solved: 46, interpolated: 0, extended: 0 },
    },
  });
  const series = answer.series as Record<string, unknown>[];
  // The strikes of the last series are too few for a smile, but those next to the forward have quotes.
  expect(series.map(({ expiry, forward_method, atm_iv }) => [expiry, forward_method, atm_iv === null])).toEqual([
    [TODAY, 'carry', true],
    [EXPIRY, 'parity', false],
    [LATER, 'parity', false],
  ]);
});

test('without prints the expiry is the one with the most gamma', () => {
  expect(callExtended(getLiveGexNodes, { ticker: 'ACME' }, market([]))).toMatchObject({
    ...{ whale_expiry: EXPIRY, expiry_chosen_by: 'gamma' },
  });
});

describe('alternative weights beside the default', () => {
  const rows = quoted({ strikes: range(90, 110, 2), expiry: LATER }).map((row, i) => ({
    ...row,
    openInterest: 100 + i,
    volume: row.callPut === 1 ? 10 : 30,
  }));
  const bought = print({ expiry: LATER, strike: 100, side: 'ask', size: 60 });

  test('by volume', () => {
    const answer = nodesOf(chainOf(rows));
    const levels = levelsOf(chainOf(rows), { weight: 'volume' });
    expect(answer.by_volume).toMatchObject({
      ...{ net_gex_mil: levels.exposures.gex / 1e6, regime: 'negative_gamma', gex_flip: levels.flip.level },
      call_wall: levels.walls.call.strike,
    });
    expect(answer).toMatchObject({ by_flow: null, zero_dte: null });
  });

  test('sign scenarios: each assumption with net GEX, regime and flip', () => {
    const answer = nodesOf(chainOf(rows), { prints: [bought] }) as {
      sign_scenarios: Record<string, Record<string, unknown>>;
      by_flow: Record<string, unknown>;
      net_gex_mil: number;
      gross_gex_mil: number;
    };
    const { calls_long_puts_short, short_both, long_both, flow } = answer.sign_scenarios;
    expect(calls_long_puts_short).toMatchObject({ net_gex_mil: answer.net_gex_mil, gex_flip: null });
    expect(answer).toMatchObject({ flip_resolved: false, flip_zone: null, spot_in_flip_zone: false });
    const gross = expect.closeTo(answer.gross_gex_mil, 9);
    expect(long_both).toEqual({ net_gex_mil: gross, regime: 'positive_gamma', sign_margin_pct: 50, gex_flip: null });
    expect(short_both).toMatchObject({
      net_gex_mil: -long_both!.net_gex_mil!,
      regime: 'negative_gamma',
      gex_flip: null,
    });
    // One bought call gives gamma of one sign.
    expect(flow).toMatchObject({ net_gex_mil: answer.by_flow.net_gex_mil, regime: 'negative_gamma', gex_flip: null });
    const without = nodesOf(chainOf(rows)) as typeof answer;
    expect(without.sign_scenarios.flow).toBeNull();
  });

  test('spot in the zone of the flip: the flip stays, and the regime is undetermined', () => {
    const near = quoted({ strikes: range(90, 110), expiry: LATER }).map((row) => ({
      ...row,
      openInterest: row.callPut === 1 ? 2 * row.strike - 150 : 250 - 2 * row.strike,
    }));
    const answer = nodesOf(chainOf(near)) as {
      flip_zone: { low: number; high: number };
      flip_band: Record<string, number>;
    };
    expect(answer).toMatchObject({ flip_resolved: true, spot_in_flip_zone: true, regime: 'undetermined' });
    expect(answer.flip_zone.low).toBeLessThan(100);
    expect(answer.flip_zone.high).toBeGreaterThan(100);
    const { low, high, sticky_strike, sticky_moneyness, ssr, ssr_ratio } = answer.flip_band;
    expect([low, high]).toEqual([
      Math.min(sticky_strike!, sticky_moneyness!),
      Math.max(sticky_strike!, sticky_moneyness!),
    ]);
    expect([ssr, ssr_ratio]).toEqual([sticky_strike, 1]);
  });

  test('by flow: the opposite of the customers’ net purchases, and the signed share', () => {
    const { by_flow, gross_gex_mil } = nodesOf(chainOf(rows), { prints: [bought] }) as {
      by_flow: Record<string, number>;
      gross_gex_mil: number;
    };
    const open = rows.reduce((sum, { openInterest }) => sum + openInterest, 0);
    expect(by_flow).toMatchObject({
      ...{ regime: 'undetermined', call_wall: 100, signed_share_pct: expect.closeTo((100 * 60) / open, 9) },
      ...{ contracts_signed: 1, positions_capped: 0, prints: { feed: 1, quote: 0, tick: 0, unknown: 0 } },
    });
    expect(by_flow.unsigned_gex_mil! - by_flow.net_gex_mil!).toBeCloseTo(gross_gex_mil, 12);
  });

  test.each([
    [
      60,
      [
        "by_flow: customers' net positions by prints are 2.47 % of open interest. Below 10 %, the sign of net GEX by flow is often wrong.",
      ],
    ],
    [400, []],
  ] as const)('by flow: %d contracts bought, of little open interest or enough', (size, expected) => {
    // The position in a contract is limited to its open interest and volume.
    const strikes = size === 60 ? [100] : [96, 98, 100, 102];
    const prints = strikes.map((strike) => print({ id: `${strike}`, expiry: LATER, strike, side: 'ask', size }));
    const { provenance } = nodesOf(chainOf(rows), { prints }) as { provenance: { notes: string[] } };
    expect(provenance.notes.filter((each) => each.startsWith('by_flow'))).toEqual([...expected]);
  });

  test('by flow: computed again only if the tape has changed', () => {
    const { context, store } = smallMarket({ chains: [chainOf(rows)], prints: [bought] });
    const byFlow = () =>
      callExtended(getLiveGexNodes, { ticker: 'ACME' }, context).by_flow as Record<string, number> | null;
    const chain = context.market.chain('ACME');
    const known = runToCompletion(customerPositionsOf(chain, context.market.tape(chain)));
    store.saveCloses([]);
    expect(runToCompletion(customerPositionsOf(chain, context.market.tape(chain)))).toBe(known!);
    store.savePrints([{ ...bought, id: 'later', strike: 98 }]);
    expect(byFlow()!.contracts_signed).toBe(2);
    const before = byFlow()!.net_gex_mil!;
    store.savePrints([{ ...bought, id: 'more', strike: 98 }]);
    expect(byFlow()!.net_gex_mil).toBeLessThan(before);
    for (const id of ['later', 'more', bought.id]) store.savePrints([{ ...bought, id, canceled: true }]);
    expect(byFlow()).toBeNull();
  });

  test('the route with sign=flow returns the chain by flow, or an error if there are no prints', () => {
    const ask = (prints: (typeof bought)[], args: object) =>
      performRoute(
        getLiveGexNodes,
        { ticker: 'ACME', ...args },
        smallMarket({ chains: [chainOf(rows)], prints }).context,
      );
    const read = (...given: Parameters<typeof ask>) => ask(...given).body.net_gex_mil as number;
    const noted = (...given: Parameters<typeof ask>) => ask(...given).provenance!.notes.join();
    expect(read([bought], { sign: 'flow' })).toBeLessThan(0);
    expect(noted([bought], { sign: 'flow' })).toMatch(/opposite of customers' net positions, which are 2\.47 % of/);
    expect(noted([bought], { sign: 'flow' })).toMatch(
      /sign=flow: .* 2\.47 % .* sign of net GEX by flow is often wrong/,
    );
    const strikesNoted = performRoute(
      getGexByStrike,
      { ticker: 'ACME', sign: 'flow' },
      smallMarket({ chains: [chainOf(rows)], prints: [bought] }).context,
    ).provenance!.notes;
    expect(strikesNoted.join()).toMatch(/2\.47 % of open interest.*often wrong/);
    expect(noted([bought], {})).not.toContain('net positions');
    expect(read([bought], {})).not.toBe(read([bought], { sign: 'flow' }));
    expect(refusalOf(() => read([], { sign: 'flow' }))).toMatchObject({ code: 'invalid_parameter', fields: ['/sign'] });
  });

  test('0DTE: separate levels by open interest and by volume until settlement', () => {
    const today = quoted({
      ...{ strikes: range(97, 103), expiry: TODAY, iv: 0.25, rest: { openInterest: 50, volume: 200 } },
    }).map((row) => (row.callPut === 1 ? { ...row, openInterest: 30, volume: 120 } : row));
    const chain = chainOf([...rows, ...today]);
    const answer = nodesOf(chain) as {
      zero_dte: Record<string, number>;
      gross_gex_mil: number;
    };
    const levels = levelsOf(chain, { expiries: { kind: '0dte' } });
    expect(answer.zero_dte).toMatchObject({
      expiry: TODAY,
      net_gex_mil: levels.exposures.gex / 1e6,
      net_gex_volume_mil: expect.closeTo((4 * levels.exposures.gex) / 1e6, 12),
      ...{ max_pain: levels.maxPain, hours_to_settlement: 1, atm_iv: expect.closeTo(0.25, 4) },
      expected_move: expect.closeTo(25 * Math.sqrt(1 / 24 / 365.25), 3),
      straddle_move: expect.closeTo(25 * Math.sqrt(1 / 24 / 365.25) * Math.sqrt(2 / Math.PI), 3),
      open_interest: 560,
      volume: 2_240,
    });
    const { gross_share_pct, gross_gex_mil } = answer.zero_dte;
    expect(gross_share_pct).toBeCloseTo((100 * gross_gex_mil!) / answer.gross_gex_mil, 9);
    expect(nodesOf(chainOf([...rows, ...today], { asOf: AS_OF + 3_600_000 })).zero_dte).toBeNull();
  });

  test('relative to the shares traded per day', () => {
    const close = (date: string, volume: number | null) => closeWith({ ticker: 'ACME', date, close: 100, volume });
    const hedging = (...closes: Close[]) => {
      const { hedging: its, net_gex_mil: net } = nodesOf(chainOf(rows), { closes });
      return { ...(its as object), net } as Record<string, number>;
    };
    const known = hedging(close('2025-12-31', 1_000), close('2026-01-01', null), close('2026-01-02', 3_000));
    expect(known.shares_per_pct).toBeCloseTo(known.net! * 1e4, 6);
    expect(known.average_daily_volume).toBe(2_000);
    expect(known.share_of_volume_pct).toBeCloseTo(Math.abs(known.shares_per_pct!) / 20, 9);
    expect(hedging(close('2026-01-02', null))).toMatchObject({ average_daily_volume: null, share_of_volume_pct: null });
    const month = range(1, 30).map((day) => close(`2025-12-${String(day).padStart(2, '0')}`, day));
    expect(hedging(...month).average_daily_volume).toBe(20.5);
    // A day that has not ended, and a future day.
    expect(hedging(close('2026-01-05', 5), close('2026-01-06', 5)).average_daily_volume).toBeNull();
  });
});

describe('answers for a poor chain', () => {
  test.each([
    ['one contract with nothing but open interest', [contract({ openInterest: 1 })]],
    ['puts only', quoted({ strikes: [95, 100], rest: { openInterest: 1 } }).filter(({ callPut }) => callPut === -1)],
    ['far from spot', quoted({ strikes: [150], rest: { openInterest: 1 } })],
  ])('%s', (_what, rows) => {
    expect(nodesOf(chainOf(rows)).ticker).toBe('ACME');
  });

  test('rejects a chain that has settled', () => {
    const late = chainOf([contract({ expiry: TODAY })], { asOf: AS_OF + 3_600_000 });
    expect(refusalOf(() => nodesOf(late)).code).toBe('no_chain');
  });
});
