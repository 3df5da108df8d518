import type { OptionSet } from '../src/bench/workloads.ts';

/** A library of another house doing the same work through its public interface, as its users call it. */
export interface Peer {
  readonly name: string;
  /** What it leaves out of what is compared. */
  readonly leavesOut: string;
  /** Fills the prices and whatever else it can; without dividends, which most do not know. */
  run(options: OptionSet, prices: Float64Array): void;
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
    run(options, prices) {
      for (let at = 0; at < options.count; at++) {
        prices[at] = model.option({
          rate: options.rate[at],
          sigma: options.iv[at],
          strike: options.strike[at],
          time: options.tte[at],
          type: options.callPut[at] === 1 ? 'call' : 'put',
          underlying: options.spot[at],
        }).price;
      }
    },
  };
}

function greeksPackage(greeks: Module, { blackScholes }: Module): Peer {
  let sink = 0;
  return {
    name: 'greeks + black-scholes',
    leavesOut: 'vanna, charm, volga; dividends',
    run({ count, spot, strike, tte, iv, rate, callPut }, prices) {
      for (let at = 0; at < count; at++) {
        const type = callPut[at] === 1 ? 'call' : 'put';
        const args = [spot[at], strike[at], tte[at], iv[at], rate[at]];
        prices[at] = blackScholes(...args, type);
        sink += greeks.getDelta(...args, type) + greeks.getGamma(...args) + greeks.getVega(...args);
        sink += greeks.getTheta(...args, type) + greeks.getRho(...args, type);
      }
      if (sink === Number.POSITIVE_INFINITY) throw new Error('never');
    },
  };
}

function optionPricing({ Option }: Module): Peer {
  return {
    name: 'option-pricing',
    leavesOut: 'every Greek: it prices only',
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, prices) {
      for (let at = 0; at < count; at++) {
        prices[at] = new Option({
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
  let sink = 0;
  return {
    name: '@quantlib/ql BlackCalculator',
    leavesOut: 'vanna, charm, volga',
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, prices) {
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
        prices[at] = option.value();
        sink += option.delta(S) + option.gamma(S) + option.vega(T) + option.theta(S, T) + option.rho(T);
      }
      if (sink === Number.POSITIVE_INFINITY) throw new Error('never');
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
    leavesOut: 'dividends; accuracy beyond a cent of price',
    run({ count, spot, strike, tte, rate, callPut }, prices, iv) {
      for (let at = 0; at < count; at++) {
        const type = callPut[at] === 1 ? 'call' : 'put';
        iv[at] = getImpliedVolatility(prices[at], spot[at], strike[at], tte[at], rate[at], type);
      }
    },
  };
}
