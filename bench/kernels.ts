import { DEFAULT_OPTIONS } from '../src/analytics/chain/options.ts';
import { prepareChain } from '../src/analytics/chain/prepare.ts';
import { exposuresOf } from '../src/analytics/exposure/dollar-exposures.ts';
import { gammaFlip } from '../src/analytics/exposure/gamma-flip.ts';
import type { Result, Runner } from '../src/bench/race.ts';
import { distinctOptions, jumpsFor, type OptionSet, outOfTheMoney } from '../src/bench/workloads.ts';
import { runToCompletion } from '../src/core/steps.ts';
import {
  callPutGreeks,
  GREEKS,
  type GreekColumns,
  type GreekName,
  greeks,
  MARKET_UNITS,
} from '../src/math/black-scholes.ts';
import { gammaProfile, logLevels } from '../src/math/gamma-exposure.ts';
import { impliedVolatility } from '../src/math/implied-volatility.ts';
import { mertonProbabilities } from '../src/math/jump-diffusion.ts';
import { indexChain } from './index-chain.ts';
import { type Native, packed } from './native.ts';
import { startNumpy } from './numpy.ts';
import type { Peers } from './peers.ts';
import { plainGammaProfile, plainGreeks, plainImpliedVolatility, plainMerton, tunedGammaProfile } from './plain.ts';
import { type ChainLevels, plainLevels } from './plain-chain.ts';

/** A comparison of implementations on the same inputs. Zomma's is the first runner. */
export interface Contest {
  readonly title: string;
  /** Name of a unit of work. */
  readonly unit: string;
  /** Units of work in one run. */
  readonly units: number;
  readonly runners: readonly Entrant[];
  readonly targets: readonly Target[];
}

export interface Entrant extends Runner {
  /** A few words about the runner: the algorithm, or the results that it does not compute. */
  readonly note: string;
  /** The largest relative difference of the runner's answers from Zomma's. */
  readonly worstDifference: number;
  /** If `worstDifference` is larger than this, the runner is not timed. */
  readonly tolerance: number;
}

/** A bound on Zomma's time, divided by the time of another runner of the contest. */
export interface Target {
  readonly text: string;
  /** Name of the other runner, which may be missing. */
  readonly against: string;
  readonly atMost: number;
}

const NAMES: readonly GreekName[] = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];
const AVX2 = 'C, AVX2, own algorithm';
export const QUANTLIB = 'QuantLib C++';
export const LETS_BE_RATIONAL = "Let's Be Rational (C++)";
const NUMPY = 'numpy and scipy';
export const PLAIN = 'plain TypeScript';

/** Returns all contests. `size` bounds the number of options. The native code and the npm libraries that are missing have no runners. */
export function contests(native: Native, peers: Peers, size: number, numpy = startNumpy): Contest[] {
  return [
    genericGreeks(native, size, numpy),
    pairGreeks(native, size),
    greeksOfPeers(peers, size),
    profile(native, Math.min(8192, 2 * size), 200),
    volatilities(native, peers, Math.min(2048, size)),
    jumps(Math.min(2048, size)),
    chainLevels(size),
  ];
}

function genericGreeks(native: Native, size: number, numpy: typeof startNumpy): Contest {
  const options = distinctOptions(size);
  const python = numpy(options);
  const exact = greeks(options);
  const input = packed(options);
  const output = new Float64Array(9 * size);
  const nativeRunner = (
    name: string,
    library: Native['libm'],
    columns: number,
    note: string,
    tolerance: number,
  ): Entrant[] => {
    if (!library) return [];
    library.greeks(size, input, output);
    const worstDifference = Math.max(
      ...NAMES.slice(0, columns).map((greek, i) => difference(output.subarray(i * size, (i + 1) * size), exact[greek])),
    );
    return [{ name, note, worstDifference, tolerance, run: () => library.greeks(size, input, output) }];
  };
  const plain = columnsOf(size);
  plainGreeks(options, plain);
  return {
    title: `Price and eight Greeks, generic, ${size.toLocaleString('en-US')} distinct options`,
    unit: 'option',
    units: size,
    runners: [
      ours(() => greeks(options, undefined, exact)),
      ...nativeRunner(AVX2, native.avx2, 9, '', 1e-9),
      ...nativeRunner('C, libm', native.libm, 9, '', 1e-9),
      ...nativeRunner(QUANTLIB, native.quantlib, 6, 'BlackCalculator: no vanna, charm, volga', 1e-4),
      {
        name: PLAIN,
        note: 'the same formulas',
        worstDifference: Math.max(...NAMES.map((name) => difference(plain[name], exact[name]))),
        tolerance: 1e-9,
        run: () => plainGreeks(options, plain),
      },
      ...(python
        ? [
            {
              name: NUMPY,
              note: 'in a process of its own',
              worstDifference: Math.max(
                ...GREEKS.map((name, i) => {
                  const market = python.answer.subarray(i * size, (i + 1) * size);
                  // Cancellation loses digits far from the money. So differences are relative to the largest value of the column.
                  const raw = market.map((each) => each / MARKET_UNITS[name]);
                  return difference(raw, exact[name], new Float64Array(size).fill(largest(exact[name])));
                }),
              ),
              tolerance: 1e-9,
              run: python.run,
              cpuNs: python.cpuNs,
            },
          ]
        : []),
    ],
    targets: [
      { text: '<= 2.5x the time of C AVX2', against: AVX2, atMost: 2.5 },
      { text: '>= 9x faster than QuantLib', against: QUANTLIB, atMost: 1 / 9 },
    ],
  };
}

function pairGreeks(native: Native, size: number): Contest {
  const options = distinctOptions(size);
  const discounts = {
    discount: options.rate.map((rate, i) => Math.exp(-rate * options.tte[i]!)),
    dividendDiscount: options.dividend.map((dividend, i) => Math.exp(-dividend * options.tte[i]!)),
  };
  const both = callPutGreeks(options, discounts);
  const { call, put } = both;
  // The C code computes the calls and the puts of the same strikes as separate options.
  const twice = (column: Float64Array) => Float64Array.from([...column, ...column]);
  const doubled: OptionSet = {
    count: 2 * size,
    callPut: Float64Array.from({ length: 2 * size }, (_, i) => (i < size ? 1 : -1)),
    spot: twice(options.spot),
    strike: twice(options.strike),
    tte: twice(options.tte),
    iv: twice(options.iv),
    rate: twice(options.rate),
    dividend: twice(options.dividend),
  };
  const input = packed(doubled);
  const output = new Float64Array(18 * size);
  const entrants: Entrant[] = [];
  const { avx2 } = native;
  if (avx2) {
    avx2.greeks(2 * size, input, output);
    const column = (i: number, half: number) => output.subarray((2 * i + half) * size, (2 * i + half + 1) * size);
    const worst = (side: GreekColumns, half: number) =>
      Math.max(...NAMES.map((name, i) => difference(column(i, half), side[name])));
    entrants.push({
      name: AVX2,
      note: 'generic mode: each option by itself',
      worstDifference: Math.max(worst(call, 0), worst(put, 1)),
      tolerance: 1e-9,
      run: () => avx2.greeks(2 * size, input, output),
    });
  }
  return {
    title: `Call and put of ${size.toLocaleString('en-US')} strikes, discounts given`,
    unit: 'option',
    units: 2 * size,
    runners: [ours(() => callPutGreeks(options, discounts, both)), ...entrants],
    targets: [{ text: '<= the time of C AVX2 in generic mode', against: AVX2, atMost: 1 }],
  };
}

function greeksOfPeers(peers: Peers, size: number): Contest {
  const options = { ...distinctOptions(size), dividend: new Float64Array(size) };
  const exact = greeks(options);
  const answer = columnsOf(size);
  const entrants = peers.greeks.map((peer): Entrant => {
    const into = columnsOf(size);
    peer.run(options, into);
    const worst = (Object.entries(peer.outputs) as [GreekName, number][]).map(([name, toRaw]) => {
      const raw = into[name].map((each) => each * toRaw);
      // These libraries lose digits far from the money. So differences are relative to the largest value of the column.
      return difference(raw, exact[name], new Float64Array(size).fill(largest(exact[name])));
    });
    return {
      name: peer.name,
      note: peer.note,
      worstDifference: Math.max(...worst),
      tolerance: 1e-6,
      run: () => peer.run(options, into),
    };
  });
  const fastest = entrants.filter(({ note }) => !note.includes('no Greeks')).map(({ name }) => name);
  return {
    title: `Price and Greeks against npm libraries, ${size.toLocaleString('en-US')} distinct options without dividends`,
    unit: 'option',
    units: size,
    runners: [ours(() => greeks(options, undefined, answer)), ...entrants],
    targets: fastest.map((name) => ({ text: `>= 3.5x faster than ${name}`, against: name, atMost: 1 / 3.5 })),
  };
}

function profile(native: Native, count: number, levelCount: number): Contest {
  const { strike, tte: _tte, iv, rate, dividend, spot } = distinctOptions(count, 3);
  const scaled = strike.map((each, i) => (100 * each) / spot[i]!);
  const tte = Float64Array.from({ length: count }, (_, i) => 0.5 / 365.25 + (2 * i) / count);
  const weight = Float64Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 1 : -1) * (1 + (i % 7)));
  const contracts = { count, strike: scaled, tte, iv, rate, dividend, weight };
  const grid = { first: 80, step: Math.log(1.5) / (levelCount - 1), count: levelCount };
  const levels = logLevels(grid);
  const exact = gammaProfile(contracts, grid);
  const gross = gammaProfile({ ...contracts, weight: weight.map(Math.abs) }, levels);
  const sums = new Float64Array(levelCount);
  const input = new Float64Array(6 * count);
  for (const [i, column] of [scaled, tte, iv, rate, dividend, weight].entries()) input.set(column, i * count);
  const entrants: Entrant[] = [
    {
      name: 'Zomma, levels in any order',
      note: 'one exponential per contract and level',
      worstDifference: difference(gammaProfile(contracts, levels), exact, gross),
      tolerance: 1e-11,
      run: () => void gammaProfile(contracts, levels),
    },
  ];
  const { avx2 } = native;
  if (avx2) {
    avx2.gammaProfile(count, input, levels, sums);
    entrants.push({
      name: AVX2,
      note: 'direct: one exponential per contract and level',
      worstDifference: difference(sums, exact, gross),
      tolerance: 1e-11,
      run: () => avx2.gammaProfile(count, input, levels, sums),
    });
  }
  plainGammaProfile(contracts, levels, sums);
  entrants.push({
    name: PLAIN,
    note: 'direct',
    worstDifference: difference(sums, exact, gross),
    tolerance: 1e-11,
    run: () => plainGammaProfile(contracts, levels, sums),
  });
  return {
    title: `Gamma profile, ${count.toLocaleString('en-US')} contracts at ${levelCount} log-spaced levels, half a day to two years`,
    unit: 'contract and level',
    units: count * levelCount,
    runners: [ours(() => gammaProfile(contracts, grid)), ...entrants],
    targets: [{ text: '>= 2.2x faster than C AVX2 direct', against: AVX2, atMost: 1 / 2.2 }],
  };
}

function volatilities(native: Native, peers: Peers, size: number): Contest {
  const options = outOfTheMoney({ ...distinctOptions(size, 4), dividend: new Float64Array(size) });
  const { price } = greeks(options);
  const asked = { ...options, price };
  const exact = impliedVolatility(asked);
  const { count, callPut, spot, strike, tte, rate, dividend } = options;
  const input = packed({ count, callPut, spot, strike, tte, iv: rate, rate: dividend, dividend: price });
  const iv = new Float64Array(size);
  const entrant = (name: string, note: string, run: () => void): Entrant => {
    run();
    return { name, note, worstDifference: difference(iv, exact), tolerance: 1e-5, run };
  };
  const { quantlib, letsBeRational } = native;
  return {
    title: `Implied volatility, ${size.toLocaleString('en-US')} distinct options out of the money, without dividends`,
    unit: 'option',
    units: size,
    runners: [
      ours(() => impliedVolatility(asked)),
      ...(quantlib
        ? [entrant(QUANTLIB, 'blackFormulaImpliedStdDev to 1e-12', () => quantlib.impliedVolatility(size, input, iv))]
        : []),
      ...(letsBeRational
        ? [entrant(LETS_BE_RATIONAL, 'two steps, to 1e-16', () => letsBeRational.impliedVolatility(size, input, iv))]
        : []),
      entrant(PLAIN, 'Newton on the price, bracketed, to 1e-14', () => plainImpliedVolatility(options, price, iv)),
      ...peers.impliedVolatility.map((peer) => entrant(peer.name, peer.note, () => peer.run(options, price, iv))),
    ],
    targets: [
      { text: '>= 6x faster than QuantLib', against: QUANTLIB, atMost: 1 / 6 },
      ...peers.impliedVolatility.map(({ name }) => ({
        text: `>= 35x faster than ${name}`,
        against: name,
        atMost: 1 / 35,
      })),
    ],
  };
}

function jumps(size: number): Contest {
  const options = distinctOptions(size, 5);
  const asked = { ...options, ...jumpsFor(options) };
  const above = new Float64Array(size);
  plainMerton(options, asked, above);
  return {
    title: `Merton's probability, ${size.toLocaleString('en-US')} distinct options`,
    unit: 'option',
    units: size,
    runners: [
      ours(() => mertonProbabilities(asked), 'probabilities above and below'),
      {
        name: PLAIN,
        note: 'only the probability above',
        worstDifference: difference(above, mertonProbabilities(asked).probAbove),
        tolerance: 1e-10,
        run: () => plainMerton(options, asked, above),
      },
    ],
    targets: [{ text: '>= 3x faster than plain TypeScript', against: PLAIN, atMost: 1 / 3 }],
  };
}

/** Compares the computation of exposures and flip from a chain as a feed delivers it. */
function chainLevels(size: number): Contest {
  const chain = indexChain(Math.min(50, Math.ceil(size / 8)), Math.min(300, Math.ceil(size / 2)));
  const answer = (): ChainLevels => {
    // `prepareChain` caches its results by chain object, so each run makes a new object.
    const prepared = runToCompletion(prepareChain({ ...chain }, DEFAULT_OPTIONS));
    const { dex, gex, grossGex, vex, cex } = runToCompletion(exposuresOf(prepared));
    return { dex, gex, grossGex, vex, cex, flip: runToCompletion(gammaFlip(prepared)).level };
  };
  const exact = Float64Array.from(Object.values(answer()));
  const entrant = (name: string, note: string, gammaProfile: typeof plainGammaProfile): Entrant => {
    const run = () => plainLevels(chain, gammaProfile);
    return {
      name,
      note,
      worstDifference: difference(Float64Array.from(Object.values(run())), exact),
      tolerance: 1e-9,
      run,
    };
  };
  return {
    title: `Chain of an index, ${chain.count.toLocaleString('en-US')} contracts at 161 levels: prepared, exposures and flip`,
    unit: 'contract',
    units: chain.count,
    runners: [
      ours(answer),
      entrant(PLAIN, 'the same forwards, stale quotes and interpolation', plainGammaProfile),
      entrant(`${PLAIN}, tuned`, 'no logarithm per level, skips contracts of weight zero', tunedGammaProfile),
    ],
    targets: [{ text: '<= 0.1x the time of plain TypeScript', against: PLAIN, atMost: 0.1 }],
  };
}

export function columnsOf(size: number): Record<GreekName, Float64Array> {
  return Object.fromEntries(NAMES.map((name) => [name, new Float64Array(size)])) as Record<GreekName, Float64Array>;
}

const largest = (column: Float64Array) => column.reduce((most, each) => Math.max(most, Math.abs(each)), 0);

export function ours(run: () => unknown, note = ''): Entrant {
  return { name: 'Zomma (WASM)', note, worstDifference: 0, tolerance: 0, run: () => void run() };
}

/** Returns the largest |a - b| / |scale|, with 1e-6 in place of smaller scales. Returns infinity if a value is NaN. */
export function difference(a: Float64Array, b: Float64Array, scale: Float64Array = b): number {
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const off = Math.abs(a[i]! - b[i]!) / Math.max(Math.abs(scale[i]!), 1e-6);
    worst = Number.isNaN(off) ? Number.POSITIVE_INFINITY : Math.max(worst, off);
  }
  return worst;
}

/** Returns whether Zomma reaches a target. Returns `undefined` if the results do not have the other runner: it is missing or not valid. */
export function isReached(target: Target, results: readonly Result[]): boolean | undefined {
  const rival = results.find(({ name }) => name === target.against);
  return rival && 1 / rival.ratio <= target.atMost;
}
