import type { OptionSet } from '../src/bench/workloads.ts';
import type { GreekColumns, GreekName } from '../src/math/black-scholes.ts';

/** A library of another house doing the same work through its public interface, as its users call it. */
export interface Peer {
  readonly name: string;
  readonly leavesOut: string;
  /** What it gives, each with what takes it to raw units. */
  readonly outputs: Partial<Record<GreekName, number>>;
  /** Fills the columns of what it gives, in its own units; without dividends, which most do not know. */
  run(options: OptionSet, into: GreekColumns): void;
}

export interface VolatilityPeer {
  readonly name: string;
  readonly leavesOut: string;
  run(options: OptionSet, prices: Float64Array, iv: Float64Array): void;
}

export interface Peers {
  readonly greeks: readonly Peer[];
  readonly impliedVolatility: readonly VolatilityPeer[];
  /** Peers that could not be loaded, and why. */
  readonly missing: readonly string[];
}

/** Loads the peers that are installed (`bun install` in this folder); the others are named as missing. */
export async function loadPeers(): Promise<Peers> {
  const missing: string[] = [];
  const load = async (name: string) => {
    try {
      return await import(name);
    } catch {
      missing.push(`${name} (not installed)`);
      return undefined;
    }
  };
  const [uqee, greeks, blackScholes, pricing, quantlib, implied] = await Promise.all(
    ['@uqee/black-scholes', 'greeks', 'black-scholes', 'option-pricing', '@quantlib/ql', 'implied-volatility'].map(
      load,
    ),
  );
  return {
    greeks: [
      ...(uqee ? [uqeeGreeks(uqee)] : []),
      ...(greeks && blackScholes ? [greeksPackage(greeks, blackScholes)] : []),
      ...(pricing ? [optionPricing(pricing)] : []),
      ...(quantlib ? [quantlibJs(quantlib)] : []),
    ],
    impliedVolatility: [
      ...(uqee ? [uqeeVolatility(uqee)] : []),
      ...(implied ? [impliedVolatilityPackage(implied)] : []),
    ],
    missing,
  };
}

// biome-ignore lint/suspicious/noExplicitAny: most of these packages ship no types; each is called exactly as its README shows
type Module = any;

function uqeeGreeks({ BlackScholes }: Module): Peer {
  const model = new BlackScholes({ sigmaToPricePrecision: 'double' });
  return {
    name: '@uqee/black-scholes (double)',
    leavesOut: 'vanna, charm, volga; dividends',
    // Its theta is d/dT.
    outputs: { price: 1, delta: 1, gamma: 1, vega: 1, theta: -1, rho: 1 },
    run(options, into) {
      for (let at = 0; at < options.count; at++) {
        const answer = model.option({
          rate: options.rate[at],
          sigma: options.iv[at],
          strike: options.strike[at],
          time: options.tte[at],
          type: options.callPut[at] === 1 ? 'call' : 'put',
          underlying: options.spot[at],
        });
        into.price[at] = answer.price;
        into.delta[at] = answer.delta;
        into.gamma[at] = answer.gamma;
        into.vega[at] = answer.vega;
        into.theta[at] = answer.theta;
        into.rho[at] = answer.rho;
      }
    },
  };
}

function greeksPackage(greeks: Module, { blackScholes }: Module): Peer {
  return {
    name: 'greeks + black-scholes',
    leavesOut: 'vanna, charm, volga; dividends',
    outputs: { price: 1, delta: 1, gamma: 1, vega: 100, theta: 365, rho: 100 },
    run({ count, spot, strike, tte, iv, rate, callPut }, into) {
      for (let at = 0; at < count; at++) {
        const type = callPut[at] === 1 ? 'call' : 'put';
        const args = [spot[at], strike[at], tte[at], iv[at], rate[at]];
        into.price[at] = blackScholes(...args, type);
        into.delta[at] = greeks.getDelta(...args, type);
        into.gamma[at] = greeks.getGamma(...args);
        into.vega[at] = greeks.getVega(...args);
        into.theta[at] = greeks.getTheta(...args, type);
        into.rho[at] = greeks.getRho(...args, type);
      }
    },
  };
}

function optionPricing({ Option }: Module): Peer {
  return {
    name: 'option-pricing',
    leavesOut: 'every Greek: computes prices only',
    outputs: { price: 1 },
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, into) {
      for (let at = 0; at < count; at++) {
        into.price[at] = new Option({
          style: 'european',
          type: callPut[at] === 1 ? 'call' : 'put',
          initialSpotPrice: spot[at],
          strikePrice: strike[at],
          timeToMaturity: tte[at],
          volatility: iv[at],
          riskFreeRate: rate[at],
          dividendYield: dividend[at],
        }).price('bs');
      }
    },
  };
}

function quantlibJs({ BlackCalculator, Option }: Module): Peer {
  return {
    name: '@quantlib/ql BlackCalculator',
    leavesOut: 'vanna, charm, volga',
    outputs: { price: 1, delta: 1, gamma: 1, vega: 1, theta: 1, rho: 1 },
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, into) {
      for (let at = 0; at < count; at++) {
        const [S, T] = [spot[at]!, tte[at]!];
        const forward = S * Math.exp((rate[at]! - dividend[at]!) * T);
        const type = callPut[at] === 1 ? Option.Type.Call : Option.Type.Put;
        const option = new BlackCalculator().init2(
          type,
          strike[at],
          forward,
          iv[at]! * Math.sqrt(T),
          Math.exp(-rate[at]! * T),
        );
        into.price[at] = option.value();
        into.delta[at] = option.delta(S);
        into.gamma[at] = option.gamma(S);
        into.vega[at] = option.vega(T);
        into.theta[at] = option.theta(S, T);
        into.rho[at] = option.rho(T);
      }
    },
  };
}

function uqeeVolatility({ BlackScholes }: Module): VolatilityPeer {
  // Its Newton's method gives up on most options out of the money; its bisection, the default, solves them.
  const model = new BlackScholes({ sigmaToPricePrecision: 'double', priceToSigmaAccuracy: 1e-10 });
  return {
    name: '@uqee/black-scholes (double, bisection to 1e-10)',
    leavesOut: 'dividends',
    run(options, prices, iv) {
      for (let at = 0; at < options.count; at++) {
        iv[at] = model.sigma({
          price: prices[at],
          rate: options.rate[at],
          strike: options.strike[at],
          time: options.tte[at],
          type: options.callPut[at] === 1 ? 'call' : 'put',
          underlying: options.spot[at],
        });
      }
    },
  };
}

function impliedVolatilityPackage({ getImpliedVolatility }: Module): VolatilityPeer {
  return {
    name: 'implied-volatility',
    leavesOut: 'dividends; accuracy finer than a cent of price',
    run({ count, spot, strike, tte, rate, callPut }, prices, iv) {
      for (let at = 0; at < count; at++) {
        const type = callPut[at] === 1 ? 'call' : 'put';
        iv[at] = getImpliedVolatility(prices[at], spot[at], strike[at], tte[at], rate[at], type);
      }
    },
  };
}
