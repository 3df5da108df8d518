import { describe, expect, test } from 'bun:test';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { densityFigures } from '../../../src/analytics/surface/density-figures.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getOptionQuotes } from '../../../src/operations/options/option-quotes.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { blackScholesDelta } from '../../analytics/plain.ts';
import { recordedChain, someRecorded } from '../../analytics/recorded.ts';
import { simulated } from '../../analytics/simulated.ts';
import {
  AS_OF,
  chainOf,
  contract,
  EXPIRY,
  LATER,
  preparedChain,
  print,
  range,
  TODAY,
  yearsTo,
} from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { call, callExtended, contextOf, refusalOf, smallMarket } from '../small-market.ts';
import { CHAIN, type Scan, scan, series } from './scanned-chains.ts';

/** The parts of a row of `get_option_quotes` that these tests check. */
interface QuotedSeries {
  readonly expiry: string;
  readonly forward: number;
  readonly expected_move: number;
  readonly atm_iv: number;
  readonly atm_iv_bid: number;
  readonly atm_iv_ask: number;
  readonly skew_25d: number | null;
}

describe('the expiry nearest to target_dte', () => {
  const TWIN = '2026-01-20';
  test.each([
    ['30 by default: 46 is nearer than 11', [EXPIRY, LATER], {}, LATER],
    ['11', [EXPIRY, LATER], { target_dte: 11 }, EXPIRY],
    ['the earlier on a tie', [EXPIRY, TWIN], { target_dte: 13 }, EXPIRY],
    ['one more day decides it', [EXPIRY, TWIN], { target_dte: 14 }, TWIN],
    ['0 is the current day', [TODAY, EXPIRY], { target_dte: 0 }, TODAY],
    ['the farthest expiry', [EXPIRY, LATER], { target_dte: 3650 }, LATER],
  ])('%s', (_what, expiries, args, expected) => {
    const found = scan(chainOf(expiries.flatMap((expiry) => series(expiry, 1))), args).state_density;
    expect(found.expiry).toBe(expected);
  });

  test('skips an expiry without open interest, and refuses a chain without any', () => {
    expect(scan(chainOf([...series(EXPIRY, 0), ...series(LATER, 1)]), { target_dte: 11 }).state_density.expiry).toBe(
      LATER,
    );
    expect(refusalOf(() => scan(chainOf([...series(EXPIRY, 0), ...series(LATER, 0)])))).toMatchObject({
      code: 'no_chain',
      message: expect.stringContaining('open interest'),
    });
  });

  test('skips an expiry without a volatility, and fails if no expiry has one', () => {
    const dark = contract({ expiry: LATER, openInterest: 100 });
    expect(scan(chainOf([...series(EXPIRY, 1), dark]), { target_dte: 46 }).state_density.expiry).toBe(EXPIRY);
    expect(refusalOf(() => scan(chainOf([dark]))).code).toBe('unprocessable');
  });
});

describe('density', () => {
  const surface = runToCompletion(fitSurface(preparedChain(CHAIN)));
  const { law, forward, atmVariance, tte, quotes } = surface.slices[0]!;
  const found = scan(CHAIN, { target_dte: 11 }).state_density;

  test('is the law of the surface at the expiry', () => {
    const figures = densityFigures(law, Math.sqrt(atmVariance));
    expect(found).toMatchObject({
      ...{ expiry: EXPIRY, root: 'ACME', days_to_expiry: 11, atm_iv: Math.sqrt(atmVariance / tte) },
      ...{ lognormal_divergence: figures.divergence, skewness: law.logMoments().skewness },
      ...{ strikes_fitted: quotes.price.length },
    });
    for (const [name, value] of [
      ['forward', forward],
      ['expected_move', forward * Math.sqrt(atmVariance)],
      ['mode', forward * figures.mode],
    ] as const) {
      expect(found[name]).toBeCloseTo(value, 9);
    }
    expect(found.fit_error).toBeWithin(1e-6, 0.5);
    expect(Object.keys(found.quantiles)).toEqual(['p05', 'p25', 'p50', 'p75', 'p95']);
    for (const [i, price] of Object.values(found.quantiles).entries()) {
      expect(price).toBeCloseTo(forward * figures.quantiles[i]!, 9);
    }
  });

  test.each(['NVDA', 'SPY', 'UUP'])(
    'of %s has the volatility and the forward of get_option_quotes, between bids and asks',
    (ticker) => {
      const chain = simulated(ticker);
      const { expiries } = call(getOptionQuotes, { ticker }, contextOf(chain)) as { expiries: QuotedSeries[] };
      for (const { expiry, forward, expected_move, ...quoted } of expiries.filter(
        ({ skew_25d }, i) => i % 4 === 1 && skew_25d,
      )) {
        const args = { ticker, expiry };
        const { state_density } = call(runStrategicOmniRadar, args, contextOf(chain)) as unknown as Scan;
        expect(state_density.forward! / forward).toBeCloseTo(1, 9);
        expect(state_density.atm_iv).toBeCloseTo(quoted.atm_iv, 12);
        expect(quoted.atm_iv).toBeWithin(quoted.atm_iv_bid, quoted.atm_iv_ask);
        expect(state_density.expected_move! / state_density.atm_iv!).toBeCloseTo(expected_move / quoted.atm_iv, 6);
      }
    },
  );

  test('is split at the walls', () => {
    const { put_wall, call_wall } = scan().gex_boundaries;
    expect(found.probability_below_put_wall).toBeCloseTo(law.below(put_wall! / forward), 12);
    expect(found.probability_above_call_wall).toBeCloseTo(law.above(call_wall! / forward), 12);
    const { probability_below_put_wall, probability_between_walls, probability_above_call_wall } = found;
    expect(probability_below_put_wall! + probability_between_walls! + probability_above_call_wall!).toBeCloseTo(1, 12);
  });

  test('has the mixture that gives its quantiles and its probabilities', () => {
    for (const args of [{ target_dte: 11 }, { target_dte: 400 }]) {
      const { density_parameters, state_density, gex_boundaries } = scan(CHAIN, args);
      const { node, mass, kernel } = density_parameters;
      const below = (price: number) =>
        node.reduce((sum, mean, i) => {
          const distance = Math.log(price / (state_density.forward! * mean)) / kernel[i]!;
          return sum + mass[i]! * normalCdf(distance + kernel[i]! / 2);
        }, 0);
      for (const [name, price] of Object.entries(state_density.quantiles)) {
        expect(below(price)).toBeCloseTo(Number(name.slice(1)) / 100, 12);
      }
      expect(below(gex_boundaries.put_wall!)).toBeCloseTo(state_density.probability_below_put_wall!, 12);
    }
  });

  test.each([0, 11, 400])('at %d days has a curve with the probabilities and the densities of its mixture', (days) => {
    const { density_curve: curve, density_parameters, state_density } = scan(CHAIN, { target_dte: days });
    const { low, high, price, density, probability_below, lognormal_density, lognormal_probability_below } = curve;
    const { node, mass, kernel } = density_parameters;
    const own = { node: node.map((each) => each * state_density.forward!), mass, kernel };
    const deviation = state_density.expected_move! / state_density.forward!;
    const flat = { node: [state_density.forward!], mass: [1], kernel: [deviation] };
    const sumOf = (of: typeof own, term: (d: number, kernel: number) => number, at: number) =>
      of.node.reduce((sum, mean, i) => {
        const width = of.kernel[i]!;
        return sum + of.mass[i]! * term(Math.log(at / mean) / width + width / 2, width);
      }, 0);
    const bell = (d: number, width: number) => Math.exp((-d * d) / 2) / (width * Math.sqrt(2 * Math.PI));
    expect([sumOf(own, normalCdf, low), sumOf(own, normalCdf, high)]).toEqual([
      expect.closeTo(0.002, 9),
      expect.closeTo(0.998, 9),
    ]);
    for (const [of, below, slope] of [
      [own, probability_below, density],
      [flat, lognormal_probability_below, lognormal_density],
    ] as const) {
      for (const [i, at] of price.entries()) {
        expect(below[i]!).toBeCloseTo(sumOf(of, normalCdf, at), 12);
        expect(at * slope[i]!).toBeCloseTo(sumOf(of, bell, at), 9);
        if (i === 0) continue;
        expect([at > price[i - 1]!, below[i]! >= below[i - 1]!]).toEqual([true, true]);
        // Halfway, a cubic with these slopes gives the probability to a tenth of the printed precision.
        const step = at - price[i - 1]!;
        const half = (below[i]! + below[i - 1]!) / 2 + (step * (slope[i - 1]! - slope[i]!)) / 8;
        expect(half).toBeCloseTo(sumOf(of, normalCdf, price[i - 1]! + step / 2), 4);
      }
    }
    expect([probability_below[0]! < 1e-4, probability_below.at(-1)! > 1 - 1e-4]).toEqual([true, true]);
    expect(Math.max(...density)).toBeCloseTo(density[price.findIndex((each) => each >= state_density.mode!)]!, 2);
  });

  test('of an expiry with few quotes is interpolated between others', () => {
    const between = '2026-01-23';
    const few = series(between, 5).filter(({ strike }) => strike > 110);
    const { state_density } = scan(chainOf([...series(EXPIRY, 1), ...few, ...series(LATER, 1)]), { target_dte: 18 });
    expect(state_density).toMatchObject({ expiry: between, strikes_fitted: 0, fit_error: 0 });
    expect(state_density.atm_iv).toBeWithin(0.25, 0.35);
  });
});

describe('boundaries', () => {
  const levels = runToCompletion(gexLevels(preparedChain(CHAIN), new Map()));

  test('are the levels of all expiries if the call asks for all, or if none settles within 35 days', () => {
    const later = chainOf(series(LATER, 1));
    expect(scan(later).gex_boundaries).toEqual(scan(later, { expiry: 'all' }).gex_boundaries);
    expect(scan(CHAIN, { expiry: 'all' }).gex_boundaries).toMatchObject({
      ...{
        expiries: 'all',
        call_wall: levels.walls.call.strike,
        put_wall: levels.walls.put.strike,
        gex_flip: levels.flip.level,
      },
      ...{ max_pain: levels.maxPain, net_gex_mil: levels.exposures.gex / 1e6 },
    });
  });

  const nodesOf = (chain: Chain, args: object) =>
    callExtended(getLiveGexNodes, { ticker: chain.underlying, ...args }, contextOf(chain)) as Record<string, number>;
  const LEVELS = [
    'call_wall',
    'put_wall',
    'gex_flip',
    'flip_resolved',
    'max_pain',
    'net_gex_mil',
    'regime',
    'sign_margin_pct',
  ];

  /** The boundaries of a scan are the levels that get_live_gex_nodes has for the same expiry or for 35 days, and the density is split at them. */
  function expectBoundaries(chain: Chain, expiry?: string): void {
    const args = { ticker: chain.underlying, ...(expiry && { expiry }) };
    const answer = callExtended(runStrategicOmniRadar, args, contextOf(chain));
    const { gex_boundaries, state_density, density_parameters, provenance } = answer as unknown as Scan & {
      provenance: { notes: string[] };
    };
    const own = nodesOf(chain, args);
    const month = (own.horizons as unknown as Record<string, Record<string, number>>)['35d'];
    const nodes = expiry === undefined && month ? month : own;
    const pick = (from: object) => LEVELS.map((name) => (from as Record<string, unknown>)[name]);
    expect(pick(gex_boundaries)).toEqual(pick(nodes));
    expect(gex_boundaries).toMatchObject({ expiries: expiry ?? (month ? '35d' : 'all') });
    const alone = `gex_boundaries are of ${expiry} alone. Whipsaw risk is over all expiries.`;
    expect(provenance.notes.filter((each) => each.startsWith('gex_boundaries'))).toEqual(expiry ? [alone] : []);
    const { node, mass, kernel } = density_parameters;
    const above = node.reduce((sum, mean, i) => {
      const distance = Math.log((state_density.forward! * mean) / nodes.call_wall!) / kernel[i]!;
      return sum + mass[i]! * normalCdf(distance - kernel[i]! / 2);
    }, 0);
    if (nodes.call_wall! > nodes.put_wall!) expect(state_density.probability_above_call_wall).toBeCloseTo(above, 9);
  }

  test.each([undefined, EXPIRY, LATER])(
    'of the expiry %p are its own levels, and the density is split at its walls',
    (expiry) => {
      expectBoundaries(CHAIN, expiry);
    },
  );

  test('of an expiry differ from those of all, and whipsaw risk does not', () => {
    // The first expiry has its walls near spot, and the second one far from it.
    const wall = (expiry: string, [put, call]: readonly [number, number]) =>
      series(expiry, 1).map((row) =>
        row.strike === (row.callPut === 1 ? call : put) ? { ...row, openInterest: 9_999 } : row,
      );
    const chain = chainOf([...wall(EXPIRY, [97, 103]), ...wall(LATER, [88, 112])]);
    const [near, far] = [scan(chain, { expiry: EXPIRY }), scan(chain, { expiry: LATER })];
    expect(near.gex_boundaries).toMatchObject({ put_wall: 97, call_wall: 103, max_pain_expiry: EXPIRY });
    expect(far.gex_boundaries).toMatchObject({ put_wall: 88, call_wall: 112, max_pain_expiry: LATER });
    expect(near.whipsaw_inputs).toEqual(far.whipsaw_inputs);
    expect(scan(chain).gex_boundaries).toMatchObject({ put_wall: 97, call_wall: 103, max_pain_expiry: EXPIRY });
    expect(scan(chain, { target_dte: 11 }).gex_boundaries.call_wall).toBe(scan(chain).gex_boundaries.call_wall!);
  });

  test('of an expiry have the large flow in this expiry', () => {
    const prints = [print({}), print({ id: 'later', expiry: LATER })];
    const kinetic = (args: object) => scan(CHAIN, args, { prints }).gex_boundaries.whale_fiat_kinetic!;
    expect(kinetic({ expiry: EXPIRY }) + kinetic({ expiry: LATER })).toBeCloseTo(kinetic({}), 6);
    expect(kinetic({ expiry: EXPIRY })).toBeGreaterThan(1e6);
  });

  describeRecorded('of an expiry, on recorded chains', (dir) => {
    test.each(someRecorded(dir))('%s', (name) => {
      const chain = recordedChain(dir, name);
      const expiries = [
        ...new Set(
          preparedChain(chain)
            .series.filter(({ smile }) => smile.logMoneyness.length > 0)
            .map((each) => each.series.expiry),
        ),
      ];
      for (const expiry of [undefined, ...expiries.slice(0, 3)]) expectBoundaries(chain, expiry);
    });
  });

  test('an expiry with two settlements says which one the density is of', () => {
    const index = (root: string) => series(EXPIRY, 1).map((row) => ({ ...row, root }));
    const chain = chainOf([...index('SPX'), ...index('SPXW')], { underlying: 'SPX' });
    const { provenance } = callExtended(runStrategicOmniRadar, { ticker: 'SPX', expiry: EXPIRY }, contextOf(chain));
    expect((provenance as { notes: string[] }).notes).toContain(
      `${EXPIRY} has several settlements: the density is that of SPX, which settles at the open, not of SPXW, which settles at the close.`,
    );
  });

  test('say where the levels of all expiries, of which the friction is, have another wall or another sign', () => {
    const heavy = (expiry: string, side: number) =>
      series(expiry, 1).map((row) => ({ ...row, openInterest: row.callPut === side ? 90 * (row.strike - 80) : 1 }));
    const chain = chainOf([
      ...heavy(EXPIRY, -1),
      ...heavy(LATER, 1).map((row) => ({ ...row, openInterest: 9 * row.openInterest! })),
    ]);
    const { gex_boundaries, provenance } = callExtended(
      runStrategicOmniRadar,
      { ticker: 'ACME' },
      contextOf(chain),
    ) as unknown as Scan & { provenance: { notes: string[] } };
    const whole = runToCompletion(gexLevels(preparedChain(chain), new Map()));
    expect(Math.sign(gex_boundaries.net_gex_mil!)).toBe(-1);
    expect(gex_boundaries.gex_potential_friction).toBeGreaterThan(0);
    const { strike } = whole.walls.call;
    expect(provenance.notes).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^Levels are of the next 35 days. Those of all expiries differ: net GEX [0-9.]+ million .*call wall ${strike}`,
        ),
      ),
    );
  });

  test('friction is net GEX times the expected daily move in percent', () => {
    const { gex_boundaries, state_density } = scan();
    const expected = levels.exposures.gex * 100 * (state_density.atm_iv! / Math.sqrt(252));
    expect(gex_boundaries.gex_potential_friction! / expected).toBeCloseTo(1, 12);
  });

  const atTheMoney = { spot: 100, strike: 100, tte: yearsTo('ACME', EXPIRY), iv: 0.3, rate: 0.04, dividend: 0 };
  const [CALL, PUT] = [1, -1].map((callPut) => blackScholesDelta({ ...atTheMoney, callPut })) as [number, number];

  test.each([
    ['from the large prints of the day', [{}], 'prints', CALL],
    ['puts offset calls', [{}, { id: 'put', callPut: -1 as const }], 'prints', CALL + PUT],
    ['puts are negative', [{ callPut: -1 as const }], 'prints', PUT],
    ['without legs of spreads', [{}, { id: 'leg', multiLeg: true }], 'prints', CALL],
    ['without deep contracts', [{}, { id: 'deep', delta: 0.91 }], 'prints', CALL],
    ['without the previous day', [{ at: AS_OF - 86_400_000 }], 'prints', 0],
    ['without small prints', [{ size: 10 }], 'prints', 0],
    ['from volumes if there are no prints, none of them large', [], 'snapshots', 0],
  ])('the kinetic term: %s', (_what, prints, from, delta) => {
    const found = scan(CHAIN, {}, { prints: prints.map((each, i) => print({ id: `p${i}`, ...each })) });
    expect(found.flow_from).toBe(from);
    // 400 contracts of 100 shares at 100 dollars.
    expect(found.gex_boundaries.whale_fiat_kinetic! / 4e6).toBeCloseTo(delta, 6);
  });

  test('large prints are read once while the tape does not change', () => {
    const { context, store } = smallMarket({ chains: [CHAIN], prints: [print({})] });
    let readings = 0;
    const { largePrints } = store;
    store.largePrints = (...range) => {
      readings++;
      return largePrints(...range);
    };
    const kinetic = () => {
      const { gex_boundaries } = callExtended(runStrategicOmniRadar, { ticker: 'ACME' }, context) as unknown as Scan;
      return gex_boundaries.whale_fiat_kinetic! / 4e6;
    };
    const first = kinetic();
    expect([kinetic(), readings]).toEqual([first, 1]);
    store.savePrints([print({ id: 'another' })]);
    expect([kinetic() / first, kinetic() / first, readings]).toEqual([2, 2, 2]);
    // A print of another ticker, and one after the last moment of the day.
    store.savePrints([print({ id: 'b', underlying: 'SPX' }), print({ id: 'c', at: AS_OF + 86_400_000 })]);
    expect(kinetic() / first).toBe(2);
    store.savePrints([print({ canceled: true })]);
    expect([kinetic() / first, kinetic() / first]).toEqual([1, 1]);
  });
});

describe('states the limits of its figures', () => {
  const notes = (chain: Chain, args: object) => {
    const { context } = smallMarket({ chains: [chain], prints: [print({})] });
    const { provenance } = callExtended(runStrategicOmniRadar, { ticker: 'ACME', ...args }, context);
    // Tests of the regime check the notes on the regime.
    return (provenance as { notes: string[] }).notes.filter((each) => !/^Net GEX|^What dealers/.test(each));
  };

  test.each<[string, object, string[]]>([
    ['the requested expiry', { target_dte: 11 }, []],
    ['a week off', { target_dte: 53 }, []],
    ['farther off', { target_dte: 150 }, ['The expiry nearest to 150 days is in 46 days.']],
    ['near relative to a distant target', { target_dte: 60 }, []],
  ])('%s', (_what, args, expected) => {
    expect(notes(CHAIN, args)).toEqual(expected);
  });

  test('an expiry with almost no gamma', () => {
    const thin = chainOf([...series(EXPIRY, 0.001), ...series(LATER, 1)]);
    expect(notes(thin, { target_dte: 11, expiry: 'all' })).toEqual([
      expect.stringMatching(/^2026-01-16 has 0\.\d+ % of all gamma/),
    ]);
  });

  test('contradictory quotes', () => {
    const rows = series(EXPIRY, 1).map((row, i) => {
      const factor = i % 4 < 2 ? 1.5 : 0.6;
      return { ...row, bid: row.bid * factor, ask: row.ask * factor };
    });
    expect(notes(chainOf(rows), { target_dte: 11 })).toContainEqual(
      expect.stringMatching(/misses their mids by \d+\.\d vol points/),
    );
  });
});

describe('concentration', () => {
  test('is the share of the five largest strikes', () => {
    const flat = (strikes: readonly number[], expiry: string) =>
      strikes.map((strike) => contract({ strike, expiry, iv: 0.3, openInterest: 1e-9 }));
    const even = chainOf([...flat(range(96, 104), EXPIRY), contract({ iv: 0.3, callPut: -1, openInterest: 1e6 })]);
    expect(scan(even).institutional_concentration_pct).toBeCloseTo(100, 6);
    expect(scan(chainOf(series(EXPIRY, 1))).institutional_concentration_pct).toBeWithin(15, 60);
    expect(scan(chainOf(flat([99, 101, 102], EXPIRY))).institutional_concentration_pct).toBeCloseTo(100, 9);
  });

  test('reports the strikes and the components of the index', () => {
    const found = scan(CHAIN, { target_dte: 11 });
    const { strike, share_pct } = found.concentrated_strikes;
    expect(strike).toHaveLength(5);
    expect(share_pct.reduce((sum, each) => sum + each, 0)).toBe(found.institutional_concentration_pct);
    const { flip_distance, daily_move, net_gex_mil, gross_gex_mil } = found.whipsaw_inputs as Record<string, number>;
    const { flip_proximity, regime } = found.whipsaw_components as Record<string, number>;
    expect(flip_proximity).toBeCloseTo(100 * Math.exp(-flip_distance! / daily_move!), 9);
    expect(regime).toBeCloseTo(50 * (1 - net_gex_mil! / gross_gex_mil!), 9);
  });

  test('over all expiries counts the strikes of all', () => {
    const { institutional_concentration_pct, institutional_concentration_all_expiries_pct } = scan(CHAIN, {
      target_dte: 11,
    });
    expect(institutional_concentration_all_expiries_pct).toBeLessThan(institutional_concentration_pct);
  });

  test('a limit lists that many further strikes, of which the first five are the concentrated ones', () => {
    const { largest_gamma_strikes, concentrated_strikes, ...rest } = scan(CHAIN, { target_dte: 11, limit: 20 });
    const { strike, share_pct } = largest_gamma_strikes!;
    expect([strike.length, share_pct.length]).toEqual([20, 20]);
    expect({ strike: strike.slice(0, 5), share_pct: share_pct.slice(0, 5) }).toEqual(concentrated_strikes);
    expect(share_pct).toEqual(share_pct.toSorted((a, b) => b - a));
    expect({ concentrated_strikes, ...rest }).toEqual(scan(CHAIN, { target_dte: 11 }));
    const { context } = smallMarket({ chains: [CHAIN] });
    const keys = (args: object) => Object.keys(call(runStrategicOmniRadar, { ticker: 'ACME', ...args }, context));
    expect(keys({ limit: 1 })).toEqual([...keys({}), 'largest_gamma_strikes']);
  });
});
