import { describe, expect, test } from 'bun:test';
import type { Chain } from '../../../src/market/chain.ts';
import type { Operation } from '../../../src/operations/engine/operation.ts';
import { perform, restView } from '../../../src/operations/engine/perform.ts';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexProfile } from '../../../src/operations/gex/gex-profile.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { getGexView } from '../../../src/operations/gex/gex-view.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { simulated } from '../../analytics/simulated.ts';
import { chainOf, EXPIRY, LATER, print, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { callExtended, callRoute, contextOf, performRoute, refusalOf, smallMarket } from '../small-market.ts';

type Options = Readonly<Record<string, string | number>>;

/**
 * Checks that each part of the view is the text of the answer of its own route. Returns the view. Without `market`, each route has a market
 * of its own, because the view and the routes share what they compute for a market.
 */
function expectParts(chain: Chain, options: Options, market?: ReturnType<typeof marketOf>): Record<string, unknown> {
  const context = market ?? marketOf(chain);
  const args = { ticker: chain.underlying, ...options };
  const { body, provenance } = performRoute(getGexView, args, context);
  const given = Object.keys(options).length > 0;
  const stated = given ? ['as_of', 'options'] : ['as_of'];
  expect(Object.keys(body)).toEqual([...stated, 'levels', 'strikes', 'profile', 'expiries', 'provenance']);
  expect([body.as_of, body.options ?? {}]).toEqual([provenance!.as_of, options]);
  for (const [part, operation] of PARTS) {
    const { as_of, options: _options, ...figures } = callRoute(operation, args, market ?? marketOf(chain));
    expect([part, JSON.stringify(body[part]), body.as_of]).toEqual([part, JSON.stringify(figures), as_of]);
  }
  const nodes = performRoute(getLiveGexNodes, args, context);
  const levels = body.levels as Record<string, unknown>;
  expect(Object.fromEntries(Object.keys(nodes.body).map((key) => [key, levels[key]]))).toEqual(nodes.body);
  const { horizons: _horizons, ...fields } = getLiveGexNodes.full.properties;
  expect(Object.keys(levels)).toEqual(Object.keys(fields));
  const { age_s: _, stale: __, ...origin } = provenance!;
  expect(body.provenance).toEqual({ ...origin });
  // The view has the variants of the levels and charm exposures, and so notes on them.
  const notes = provenance!.notes.filter((each) => !/^(by_flow: |Charm exposure)/.test(each));
  expect({ ...provenance!, notes }).toEqual({ ...nodes.provenance!, notes: [...nodes.provenance!.notes] });
  return body;
}

const PARTS = [
  ['strikes', getGexByStrike],
  ['profile', getGexProfile],
  ['expiries', getGexByExpiry],
] as const;

const marketOf = (chain: Chain) => contextOf(chain, chain.asOf + 60_000);

/** Checks that `levels` is the text of the extended answer with the default options, without the levels by horizon. */
function expectExtendedLevels(chain: Chain): void {
  const context = marketOf(chain);
  const { levels } = callRoute(getGexView, { ticker: chain.underlying }, context);
  const {
    provenance: _,
    horizons: _horizons,
    ...extended
  } = callExtended(getLiveGexNodes, { ticker: chain.underlying }, context);
  expect(JSON.stringify(levels)).toBe(JSON.stringify(extended));
}

const OPTIONS: readonly Options[] = [{}, { weight: 'volume', expiries: 'next:30' }, { forward: 'flat', iv: 'own' }];

describe.each(['SPY', 'TSLA', 'BRK.B'])('the simulated market, %s', (ticker) => {
  const chain = simulated(ticker);
  test.each(OPTIONS)('every part equals the answer of its own route: %p', (options) => {
    expectParts(chain, options);
  });
  test('the levels are the extended answer', () => expectExtendedLevels(chain));
});

describeRecorded('recorded chains', (dir) => {
  test.each(recordedNames(dir))('%s: every part equals the answer of its own route', (name) => {
    const chain = recordedChain(dir, name);
    for (const options of [{}, { weight: 'volume', gamma: 'feed' }]) expectParts(chain, options);
    expectExtendedLevels(chain);
  });
});

describe('with signed flow', () => {
  const series = (expiry: string) =>
    quoted({ strikes: range(90, 110), expiry, rest: { openInterest: 100, volume: 9 } });
  const chain = chainOf([...series(TODAY), ...series(EXPIRY), ...series(LATER)]);
  const prints = [
    print({ id: 'a', expiry: TODAY, callPut: 1, strike: 102, size: 30, side: 'ask' }),
    print({ id: 'b', expiry: LATER, callPut: -1, strike: 95, size: 40, side: 'bid' }),
  ];
  const { context } = smallMarket({ chains: [chain], prints }, chain.asOf);

  test('every part equals the answer of its own route, and by_flow equals the levels', () => {
    const { levels } = expectParts(chain, { sign: 'flow' }, context) as { levels: Record<string, unknown> };
    const { by_flow, net_gex_mil, gex_flip } = levels;
    expect(by_flow).toMatchObject({ net_gex_mil, gex_flip, contracts_signed: 2 });
    expect(net_gex_mil).not.toBe(0);
  });

  test('the levels of the day have the same sign and share as the strikes of the day', () => {
    const zeroDte = (options: Options) =>
      (expectParts(chain, options, context).levels as { zero_dte: Record<string, number> }).zero_dte;
    const [own, all] = ['0dte', 'all'].map(
      (expiries) => callRoute(getGexByStrike, { ticker: 'ACME', sign: 'flow', expiries }, context).net_gex,
    ) as [number[], number[]];
    const sum = (column: readonly number[]) => column.reduce((total, each) => total + each, 0);
    const gross = (column: readonly number[]) => sum(column.map(Math.abs));
    // The customer bought one call of today, so dealers are short.
    expect(sum(own)).toBeLessThan(0);
    const found = zeroDte({ sign: 'flow' });
    expect(found.net_gex_mil! * 1e6).toBeCloseTo(sum(own), 6);
    expect(found.gross_share_pct!).toBeCloseTo((100 * gross(own)) / gross(all), 9);
    expect(zeroDte({}).net_gex_mil!).not.toBe(found.net_gex_mil!);
  });
});

test('a selection without the day of the snapshot has no levels of that day', () => {
  const chain = simulated('SPY');
  const all = expectParts(chain, {});
  const expiry = ((all.expiries as { expiry: string[] }).expiry as string[]).at(-1)!;
  expect((all.levels as Record<string, unknown>).zero_dte).not.toBeNull();
  expect((expectParts(chain, { expiries: expiry }).levels as Record<string, unknown>).zero_dte).toBeNull();
});

test('a snapshot that arrives while the answer is computed does not get into it', () => {
  const chain = simulated('SPY');
  const { context, store } = smallMarket({ chains: [chain], simulated: true }, chain.asOf);
  const steps = perform(restView(getGexView as unknown as Operation), { ticker: 'SPY' }, context, 'invalid_parameter');
  for (let step = 0; ; step++) {
    const next = steps.next();
    store.saveChain({ ...chain, asOf: chain.asOf + 1 + step, spot: chain.spot * 1.001 });
    if (!next.done) continue;
    const { body, provenance } = next.value;
    expect(step).toBeGreaterThan(5);
    for (const part of ['levels', 'strikes', 'profile', 'expiries']) {
      expect((body[part] as { spot_price: number }).spot_price).toBe(chain.spot);
    }
    expect(provenance!.as_of).toBe(new Date(chain.asOf).toISOString());
    break;
  }
});

test('the extended answer has the age of the data too', () => {
  const { provenance } = callExtended(getGexView, { ticker: 'UUP' }, marketOf(simulated('UUP')));
  expect(provenance).toMatchObject({ age_s: 60 });
});

test.each([
  [{ ticker: 'ZZZZ' }, 'unknown_ticker'],
  [{ ticker: 'SPY', sign: 'flow' }, 'invalid_parameter'],
  [{ ticker: 'SPY', expiries: '2040-01-20' }, 'unknown_expiry'],
  [{ ticker: 'SPY', measure: 'gamma' }, 'invalid_parameter'],
])('refuses %p', (args, code) => {
  expect(refusalOf(() => callRoute(getGexView, args, contextOf(simulated('SPY')))).code).toBe(code);
});
