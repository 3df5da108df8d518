import { callPutGreeks, greeks } from '../math/black-scholes.ts';
import { gammaProfile } from '../math/gamma-exposure.ts';
import { impliedVolatility } from '../math/implied-volatility.ts';
import { merton, mertonProbabilities } from '../math/jump-diffusion.ts';
import { race } from './race.ts';
import { distinctOptions, jumpsFor, outOfTheMoney } from './workloads.ts';

const SIZE = 4096;
const LEVELS = 200;

/**
 * Measures the median time of every kernel on distinct options, ns per unit of work, with the copies of the columns in and out. An `effort`
 * of 1 takes a few seconds. Less effort is less exact.
 */
export function measureSpeed(effort = 1) {
  const options = distinctOptions(SIZE);
  const priced = outOfTheMoney(options);
  const quoted = { ...priced, price: greeks(priced).price };
  const jumps = { ...options, ...jumpsFor(options) };
  const contracts = { ...options, weight: options.callPut };
  const grid = { first: 100, step: Math.log(1.5) / (LEVELS - 1), count: LEVELS };
  const levels = Float64Array.from({ length: LEVELS }, (_, i) => 100 + i);
  const timed = (kernel: string, unit: string, units: number, run: () => unknown) => {
    const [result] = race([{ name: kernel, run: () => void run() }], {
      units,
      rounds: Math.max(1, Math.round(21 * effort)),
      sliceMs: 10 * effort,
    });
    return { kernel, unit, ns: result!.ns };
  };
  const one = greeks(options);
  const two = callPutGreeks(options);
  return [
    timed('price and eight Greeks', 'option', SIZE, () => greeks(options, undefined, one)),
    timed('price and eight Greeks, call and put', 'option', 2 * SIZE, () => callPutGreeks(options, undefined, two)),
    timed('implied volatility', 'option', SIZE, () => impliedVolatility(quoted)),
    timed('Merton probabilities', 'option', SIZE, () => mertonProbabilities(jumps)),
    timed('Merton probabilities and prices', 'option', SIZE, () => merton(jumps)),
    timed('gamma profile, log-spaced levels', 'contract and level', SIZE * LEVELS, () => gammaProfile(contracts, grid)),
    timed('gamma profile, any levels', 'contract and level', SIZE * LEVELS, () => gammaProfile(contracts, levels)),
  ];
}
