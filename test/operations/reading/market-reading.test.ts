import { describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { closeOf } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { contextAt } from '../../../src/operations/engine/moment.ts';
import type { Context } from '../../../src/operations/engine/operation.ts';
import { getWhalePrints } from '../../../src/operations/flow/whale-prints.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getHedgingProfile } from '../../../src/operations/gex/hedging-profile.ts';
import { detectLethalNodes } from '../../../src/operations/gex/lethal-nodes.ts';
import { getOptionQuotes } from '../../../src/operations/options/option-quotes.ts';
import { levelsOf, provenanceOf, readMarket } from '../../../src/operations/reading/market-reading.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { AS_OF, chainOf, EXPIRY, HEAD, LATER, print, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { contextOf, performTool, refusalOf, smallMarket } from '../small-market.ts';

const DAY_MS = 86_400_000;

function chainAt(asOf: number, overrides: Partial<Chain> = {}): Chain {
  const rows = [
    ...quoted({ strikes: range(90, 110), rest: { openInterest: 20 } }),
    ...quoted({ strikes: range(90, 110), expiry: LATER, rest: { openInterest: 10 } }),
  ];
  return { ...chainOf(rows, { asOf }), ...overrides };
}

describe('the newest chain of a ticker', () => {
  test('is the same object until a newer one arrives', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
    const first = context.market.chain('ACME');
    expect(context.market.chain('ACME')).toBe(first);
    expect(first.asOf).toBe(AS_OF);
    store.saveChain(chainAt(AS_OF - DAY_MS));
    expect(context.market.chain('ACME')).toBe(first);
    store.saveChain(chainAt(AS_OF + 60_000));
    const second = context.market.chain('ACME');
    expect(second.asOf).toBe(AS_OF + 60_000);
    expect(context.market.chain('ACME')).toBe(second);
  });

  test('is another object if the same snapshot is stored again', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
    expect(context.market.chain('ACME').spot).toBe(100);
    store.saveChain(chainAt(AS_OF, { spot: 101 }));
    expect(context.market.chain('ACME').spot).toBe(101);
  });

  test('accepts any spelling of the ticker', () => {
    const { context } = smallMarket({
      chains: [chainOf(quoted({ strikes: [100], root: 'SPXW' }), { underlying: 'SPX' })],
    });
    const chain = context.market.chain('SPX');
    for (const spelling of ['spx', '^SPX', '_SPX', ' SPX ', 'SPXW']) expect(context.market.chain(spelling)).toBe(chain);
  });

  test('ignores simulated chains if data is recorded', () => {
    const { context } = smallMarket({ chains: [chainAt(AS_OF, { simulated: true })] });
    expect(context.market.findChain('ACME')).toBeUndefined();
  });

  test('no chain: the error names the ticker, and differs for unknown tickers', () => {
    const { context } = smallMarket();
    expect(refusalOf(() => runToCompletion(readMarket('SPY', context)))).toMatchObject({
      code: 'no_chain',
      message: 'SPY is in the universe, but no option chain of it has arrived yet',
    });
    const unknown = refusalOf(() => runToCompletion(readMarket('ZZZZ', context)));
    expect(unknown).toMatchObject({
      code: 'unknown_ticker',
      message: 'ZZZZ is not in the universe and has no stored chain',
    });
    expect(context.market.findChain('SPY')).toBeUndefined();
  });
});

describe('expiries that have settled since the quotes', () => {
  const SETTLED = /^Settled since the quotes, so not live: /;
  const close = closeOf(EXPIRY);
  const notesOf = (operation: unknown, args: object, nowMs: number): readonly string[] => {
    const { provenance } = performTool(operation, { ticker: 'ACME', ...args }, contextOf(chainAt(AS_OF), nowMs));
    return provenance!.notes.filter((each) => SETTLED.test(each));
  };
  const note = `Settled since the quotes, so not live: ${EXPIRY}.`;

  test.each<[string, unknown, object, boolean]>([
    ['nodes', detectLethalNodes, {}, true],
    ['nodes of the expiry', detectLethalNodes, { expiry: EXPIRY }, true],
    ['nodes of another expiry', detectLethalNodes, { expiry: LATER }, false],
    ['levels, whose dominant expiry it is', getLiveGexNodes, {}, true],
    ['levels of another expiry', getLiveGexNodes, { expiry: LATER }, false],
    ['quotes', getOptionQuotes, { expiry: EXPIRY }, true],
    ['the term structure', getOptionQuotes, {}, true],
    ['quotes of another expiry', getOptionQuotes, { expiry: LATER }, false],
    ['a scan of the expiry', runStrategicOmniRadar, { expiry: EXPIRY }, true],
    ['a scan of another expiry', runStrategicOmniRadar, {}, false],
    ['hedging of the expiry', getHedgingProfile, { expiry: EXPIRY }, true],
    ['hedging of another expiry', getHedgingProfile, { expiry: LATER }, false],
  ])('%s', (_what, operation, args, isNoted) => {
    expect(notesOf(operation, args, close)).toEqual(isNoted ? [note] : []);
    expect(notesOf(operation, args, close - 1)).toEqual([]);
    // In a replay, the expiry is live.
    expect(notesOf(operation, { ...args, at: new Date(AS_OF).toISOString() }, close)).toEqual([]);
  });
});

test.each<[string, unknown, string]>([
  ['nodes', detectLethalNodes, 'expiry'],
  ['levels', getLiveGexNodes, 'expiry'],
  ['quotes', getOptionQuotes, 'expiry'],
  ['a scan', runStrategicOmniRadar, 'expiry'],
  ['hedging', getHedgingProfile, 'expiry'],
  ['flow', getWhalePrints, 'target_expiry'],
])('a refused expiry of %s names as listed only what is live now', (_what, operation, field) => {
  const hintAt = (nowMs: number, more: object = {}) =>
    refusalOf(() =>
      performTool(operation, { ticker: 'ACME', [field]: '2026-01-15', ...more }, contextOf(chainAt(AS_OF), nowMs)),
    ).hint;
  const [both, one, none] = [
    `Nearest listed: ${EXPIRY}, ${LATER}.`,
    `Nearest listed: ${LATER}. Settled since the quotes: ${EXPIRY}.`,
    `No listed expiry is live any more. Settled since the quotes: ${EXPIRY}, ${LATER}.`,
  ] as const;
  expect(hintAt(closeOf(EXPIRY) - 1)).toEndWith(both);
  expect(hintAt(closeOf(EXPIRY))).toEndWith(one);
  expect(hintAt(closeOf(LATER))).toEndWith(none);
  expect(hintAt(closeOf(LATER), { at: new Date(AS_OF).toISOString() })).toEndWith(both);
});

describe('prints around the snapshot', () => {
  const market = (...prints: Parameters<typeof print>[0][]) =>
    smallMarket({
      chains: [chainAt(AS_OF)],
      prints: prints.map((each, i) => print({ id: `p${i}`, ...each })),
    });

  test.each([
    ['30 days back', { at: AS_OF - 30 * DAY_MS }, 1],
    ['30 days and a millisecond back', { at: AS_OF - 30 * DAY_MS - 1 }, 0],
    ['after the snapshot: the window ends with the print', { at: AS_OF + DAY_MS }, 1],
    ['too small', { price: 0.01 }, 0],
    ['canceled', { canceled: true }, 0],
  ])('%s', (_what, overrides, expected) => {
    expect(runToCompletion(readMarket('ACME', market(overrides).context)).large).toHaveLength(expected);
  });

  test('a print after the snapshot moves the window forward', () => {
    const { context } = market({ at: AS_OF - 29.5 * DAY_MS }, { at: AS_OF + DAY_MS, size: 777 });
    expect(runToCompletion(readMarket('ACME', context)).large.map(({ contracts }) => contracts)).toEqual([777]);
  });

  test('counts a print once however often it arrives, and not at all once it is canceled', () => {
    const { context, store } = market({ size: 500 }, { size: 700 });
    store.savePrints([print({ id: 'p0', size: 500 }), print({ id: 'p1', size: 700 })]);
    expect(runToCompletion(readMarket('ACME', context)).large).toMatchObject([{ prints: 2, contracts: 1200 }]);
    store.savePrints([print({ id: 'p0', canceled: true })]);
    expect(runToCompletion(readMarket('ACME', context)).large).toMatchObject([{ prints: 1, contracts: 700 }]);
  });

  test('the flow is cached until the store changes', () => {
    const { context, store } = market({});
    const chain = context.market.chain('ACME');
    const recent = context.market.flow(chain, 30, 0);
    expect(context.market.flow(chain, 30, 0)).toBe(recent);
    expect(context.market.flow(chain, 1, 0)).not.toBe(recent);
    store.savePrints([print({ id: 'new' })]);
    expect(context.market.flow(chain, 30, 0)).toMatchObject([{ prints: 2 }]);
  });
});

test('returns the last snapshot of each earlier day', () => {
  const days = [40, 30, 2, 1, 0].map((days) => AS_OF - days * DAY_MS);
  const { context } = smallMarket({ chains: [...days, AS_OF - DAY_MS - 60_000].map((asOf) => chainAt(asOf)) });
  const recent = context.market.recentChainIds(context.market.chain('ACME'), 30);
  expect(recent.map((id) => context.market.chainById(id)!.asOf)).toEqual(days.slice(1));
});

describe('levels', () => {
  test('are computed once for the same chain and prints', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
    const levels = runToCompletion(levelsOf(runToCompletion(readMarket('ACME', context))));
    expect(runToCompletion(levelsOf(runToCompletion(readMarket('ACME', context))))).toBe(levels);
    expect([levels.dominant.series.expiry, levels.dominantBy]).toEqual([EXPIRY, 'gamma']);
    store.savePrints([print({ expiry: LATER })]);
    const moved = runToCompletion(levelsOf(runToCompletion(readMarket('ACME', context))));
    expect([moved.dominant.series.expiry, moved.dominantBy]).toEqual([LATER, 'large_prints']);
  });

  test.each([
    ['a leg of a spread', { multiLeg: true }],
    ['a call deep in the money', { delta: 0.95 }],
    ['an expiry that has settled', { expiry: TODAY }],
    ['an adjusted deliverable', { root: 'ACME1' }],
  ])('are not affected by %s', (_what, overrides) => {
    const { context } = smallMarket({ chains: [chainAt(AS_OF)], prints: [print({ expiry: LATER, ...overrides })] });
    expect(runToCompletion(levelsOf(runToCompletion(readMarket('ACME', context)))).dominantBy).toBe('gamma');
  });
});

describe('provenance', () => {
  test('comes from the snapshot, with the age by wall-clock time', () => {
    const { context } = smallMarket({}, AS_OF + 90_400);
    expect(provenanceOf(chainAt(AS_OF), context, ['a note'])).toEqual({
      ...{ source: HEAD.source, simulated: false, as_of: '2026-01-05T20:00:00.000Z', age_s: 90, stale: true },
      notes: ['a note'],
    });
  });

  test('a past moment has a note if its prints were removed; the present has no such note', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] }, AS_OF + 40 * DAY_MS);
    const notesAt = (at: Context) => provenanceOf(at.market.chain('ACME'), at).notes;
    const past = () => contextAt(context, '2026-01-05T20:00:00Z');
    expect(notesAt(past())).toEqual([]);
    store.removeOld({ printsFromMs: AS_OF, presentMs: AS_OF + 40 * DAY_MS });
    expect(notesAt(past())).toEqual([expect.stringContaining('Prints before 2026-01-05T20:00:00.000Z are no longer')]);
    expect(notesAt(context)).toEqual([]);
  });

  test('a snapshot ahead of the clock has a negative age, is stale if clocks cannot differ so much, and a simulated one has a note', () => {
    const { context } = smallMarket({}, AS_OF - 5000);
    const found = provenanceOf(chainAt(AS_OF, { simulated: true }), context);
    expect(found).toMatchObject({ age_s: -5, stale: false });
    expect(found.notes[0]).toMatch(/simulated/i);
    const { context: behind } = smallMarket({}, AS_OF - 7_200_000);
    expect(provenanceOf(chainAt(AS_OF), behind)).toMatchObject({ age_s: -7_200, stale: true });
  });
});
