import { distinctOptions, generator, type OptionSet } from '../src/bench/workloads.ts';
import { type GreekName, greeks } from '../src/math/black-scholes.ts';
import { impliedVolatility } from '../src/math/implied-volatility.ts';
import {
  type Contest,
  columnsOf,
  difference,
  type Entrant,
  LETS_BE_RATIONAL,
  ours,
  PLAIN,
  QUANTLIB,
} from './kernels.ts';
import { type Native, packed } from './native.ts';
import { plainGreeks, plainImpliedVolatility } from './plain.ts';

/** The kinds of options: deviations of the strike from the forward, from and to, and the longest time to expiry in years. */
const KINDS: Readonly<Record<string, { readonly from: number; readonly to: number; readonly years: number }>> = {
  'near the money': { from: 0, to: 0.5, years: 2 },
  'far out of the money': { from: 3, to: 6, years: 2 },
  'last day': { from: 0, to: 2.5, years: 1 / 365 },
};

/** The numbers of options of a call. */
const SIZES = [1, 16, 256, 4096, 65_536];

/** Returns the contests by kind of option, and by number of options in a call. */
export function kindContests(native: Native, size: number): Contest[] {
  return [greeksByKind(size), volatilitiesByKind(native, Math.min(2048, size)), greeksBySize(16 * size)];
}

/** Returns options of a kind, out of the money, without dividends. */
function optionsOf(kind: string, count: number): OptionSet {
  const { from, to, years } = KINDS[kind]!;
  const random = generator(7);
  const options = { ...distinctOptions(count, 8), dividend: new Float64Array(count) };
  const tte = options.tte.map(() => years * (0.02 + 0.98 * random()));
  const deviations = options.spot.map(() => (random() < 0.5 ? -1 : 1) * (from + (to - from) * random()));
  const strike = options.spot.map(
    (spot, i) => spot * Math.exp(options.rate[i]! * tte[i]! + deviations[i]! * options.iv[i]! * Math.sqrt(tte[i]!)),
  );
  return { ...options, tte, strike, callPut: deviations.map((each) => (each >= 0 ? 1 : -1)) };
}

function greeksByKind(size: number): Contest {
  const entrants = Object.keys(KINDS).flatMap((kind): Entrant[] => {
    const options = optionsOf(kind, size);
    const exact = greeks(options);
    const plain = columnsOf(size);
    plainGreeks(options, plain);
    const worst = (Object.keys(plain) as GreekName[]).map((name) => difference(plain[name], exact[name]));
    return [
      { ...ours(() => greeks(options, undefined, exact)), name: `Zomma (WASM), ${kind}` },
      {
        name: `${PLAIN}, ${kind}`,
        note: 'the same formulas',
        worstDifference: Math.max(...worst),
        tolerance: 1e-6,
        run: () => plainGreeks(options, plain),
      },
    ];
  });
  return {
    title: `Price and eight Greeks by kind of option, ${size.toLocaleString('en-US')} distinct options`,
    unit: 'option',
    units: size,
    runners: entrants,
    targets: [],
  };
}

function volatilitiesByKind({ quantlib, letsBeRational }: Native, size: number): Contest {
  const entrants = Object.keys(KINDS).flatMap((kind): Entrant[] => {
    const options = optionsOf(kind, size);
    const { price } = greeks(options);
    const asked = { ...options, price };
    const exact = impliedVolatility(asked);
    const { rate, dividend } = options;
    const input = packed({ ...options, iv: rate, rate: dividend, dividend: price });
    const rival = (name: string, note: string, solve: (iv: Float64Array) => void): Entrant => {
      const iv = new Float64Array(size);
      solve(iv);
      const worstDifference = difference(iv, exact);
      return { name: `${name}, ${kind}`, note, worstDifference, tolerance: 1e-5, run: () => solve(iv) };
    };
    return [
      { ...ours(() => impliedVolatility(asked)), name: `Zomma (WASM), ${kind}` },
      ...(letsBeRational
        ? [rival(LETS_BE_RATIONAL, 'two steps, to 1e-16', (iv) => letsBeRational.impliedVolatility(size, input, iv))]
        : []),
      ...(quantlib ? [rival(QUANTLIB, 'to 1e-12', (iv) => quantlib.impliedVolatility(size, input, iv))] : []),
      rival(PLAIN, 'Newton on the price, bracketed, to 1e-14', (iv) => plainImpliedVolatility(options, price, iv)),
    ];
  });
  return {
    title: `Implied volatility by kind of option, ${size.toLocaleString('en-US')} distinct options out of the money`,
    unit: 'option',
    units: size,
    runners: entrants,
    targets: [],
  };
}

/** Compares calls of different numbers of options. Each runner computes all options, in as many calls as it takes. */
function greeksBySize(total: number): Contest {
  const options = distinctOptions(total, 9);
  const into = columnsOf(total);
  const part = (from: number, to: number) => {
    const rows = (column: Float64Array) => column.subarray(from, to);
    const { callPut, spot, strike, tte, iv, rate, dividend } = options;
    const inputs = { callPut, spot, strike, tte, iv, rate, dividend };
    const of = <Name extends string>(columns: Readonly<Record<Name, Float64Array>>) =>
      Object.fromEntries(Object.entries<Float64Array>(columns).map(([name, column]) => [name, rows(column)])) as Record<
        Name,
        Float64Array
      >;
    return [{ count: to - from, ...of(inputs) }, of(into)] as const;
  };
  const runners = SIZES.map((size): Entrant => {
    const length = Math.min(size, total);
    const parts = Array.from({ length: Math.ceil(total / length) }, (_, i) =>
      part(i * length, Math.min(total, (i + 1) * length)),
    );
    const run = () => {
      for (const [each, answer] of parts) greeks(each, undefined, answer);
    };
    return { ...ours(run), name: `Zomma (WASM), ${size.toLocaleString('en-US')} a call` };
  });
  return {
    title: `Price and eight Greeks by number of options a call, ${total.toLocaleString('en-US')} distinct options`,
    unit: 'option',
    units: total,
    runners,
    targets: [],
  };
}
