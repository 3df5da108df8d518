import type { OptionSet } from '../src/bench/workloads.ts';
import type { GreekColumns, GreekName } from '../src/math/black-scholes.ts';

/** An npm library that computes prices and Greeks. The benchmark calls its public functions, as its users do. */
export interface Peer {
  readonly name: string;
  /** The results, inputs and accuracy that the library does not have, as the table states them. */
  readonly note: string;
  /** The columns that the library computes. Each value is the factor that converts the column to raw partial derivatives. */
  readonly outputs: Partial<Record<GreekName, number>>;
  /** Fills the columns of `outputs`, in the library's units. The options have no dividends, because most of the libraries have none. */
  run(options: OptionSet, into: GreekColumns): void;
}

/** An npm library that computes implied volatilities. */
export interface VolatilityPeer {
  readonly name: string;
  readonly note: string;
  run(options: OptionSet, prices: Float64Array, iv: Float64Array): void;
}

export interface Peers {
  readonly greeks: readonly Peer[];
  readonly impliedVolatility: readonly VolatilityPeer[];
  /** The packages that could not be loaded, with the reasons. */
  readonly missing: readonly string[];
}

/** The packages that `loadPeers` loads. */
export const PEER_PACKAGES = [
  '@uqee/black-scholes',
  'greeks',
  'black-scholes',
  'option-pricing',
  '@quantlib/ql',
  'implied-volatility',
] as const;

/** Loads the packages that are installed. `bun install --cwd bench` installs them. `missing` names the other packages. */
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
  const [uqee, greeks, blackScholes, pricing, quantlib, implied] = await Promise.all(PEER_PACKAGES.map(load));
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

// biome-ignore lint/suspicious/noExplicitAny: most of these packages have no types, and each is called exactly as its README shows
type Module = any;

function uqeeGreeks({ BlackScholes }: Module): Peer {
  const model = new BlackScholes({ sigmaToPricePrecision: 'double' });
  return {
    name: '@uqee/black-scholes (double)',
    note: 'has neither vanna, charm and volga nor dividends',
    // Its theta is the derivative with respect to the time to expiry, which has the opposite sign.
    outputs: { price: 1, delta: 1, gamma: 1, vega: 1, theta: -1, rho: 1 },
    run(options, into) {
      for (let i = 0; i < options.count; i++) {
        const answer = model.option({
          rate: options.rate[i],
          sigma: options.iv[i],
          strike: options.strike[i],
          time: options.tte[i],
          type: options.callPut[i] === 1 ? 'call' : 'put',
          underlying: options.spot[i],
        });
        into.price[i] = answer.price;
        into.delta[i] = answer.delta;
        into.gamma[i] = answer.gamma;
        into.vega[i] = answer.vega;
        into.theta[i] = answer.theta;
        into.rho[i] = answer.rho;
      }
    },
  };
}

function greeksPackage(greeks: Module, { blackScholes }: Module): Peer {
  return {
    name: 'greeks + black-scholes',
    note: 'has neither vanna, charm and volga nor dividends',
    outputs: { price: 1, delta: 1, gamma: 1, vega: 100, theta: 365, rho: 100 },
    run({ count, spot, strike, tte, iv, rate, callPut }, into) {
      for (let i = 0; i < count; i++) {
        const type = callPut[i] === 1 ? 'call' : 'put';
        const args = [spot[i], strike[i], tte[i], iv[i], rate[i]];
        into.price[i] = blackScholes(...args, type);
        into.delta[i] = greeks.getDelta(...args, type);
        into.gamma[i] = greeks.getGamma(...args);
        into.vega[i] = greeks.getVega(...args);
        into.theta[i] = greeks.getTheta(...args, type);
        into.rho[i] = greeks.getRho(...args, type);
      }
    },
  };
}

function optionPricing({ Option }: Module): Peer {
  return {
    name: 'option-pricing',
    note: 'no Greeks: computes prices only',
    outputs: { price: 1 },
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, into) {
      for (let i = 0; i < count; i++) {
        into.price[i] = new Option({
          style: 'european',
          type: callPut[i] === 1 ? 'call' : 'put',
          initialSpotPrice: spot[i],
          strikePrice: strike[i],
          timeToMaturity: tte[i],
          volatility: iv[i],
          riskFreeRate: rate[i],
          dividendYield: dividend[i],
        }).price('bs');
      }
    },
  };
}

function quantlibJs({ BlackCalculator, Option }: Module): Peer {
  return {
    name: '@quantlib/ql BlackCalculator',
    note: 'no vanna, charm, volga',
    outputs: { price: 1, delta: 1, gamma: 1, vega: 1, theta: 1, rho: 1 },
    run({ count, spot, strike, tte, iv, rate, dividend, callPut }, into) {
      for (let i = 0; i < count; i++) {
        const [S, T] = [spot[i]!, tte[i]!];
        const forward = S * Math.exp((rate[i]! - dividend[i]!) * T);
        const type = callPut[i] === 1 ? Option.Type.Call : Option.Type.Put;
        const option = new BlackCalculator().init2(
          type,
          strike[i],
          forward,
          iv[i]! * Math.sqrt(T),
          Math.exp(-rate[i]! * T),
        );
        into.price[i] = option.value();
        into.delta[i] = option.delta(S);
        into.gamma[i] = option.gamma(S);
        into.vega[i] = option.vega(T);
        into.theta[i] = option.theta(S, T);
        into.rho[i] = option.rho(T);
      }
    },
  };
}

function uqeeVolatility({ BlackScholes }: Module): VolatilityPeer {
  // The library's Newton's method fails for most options out of the money. Its bisection, which is the default, solves them.
  const model = new BlackScholes({ sigmaToPricePrecision: 'double', priceToSigmaAccuracy: 1e-10 });
  return {
    name: '@uqee/black-scholes (double, bisection to 1e-10)',
    note: 'no dividends',
    run(options, prices, iv) {
      for (let i = 0; i < options.count; i++) {
        iv[i] = model.sigma({
          price: prices[i],
          rate: options.rate[i],
          strike: options.strike[i],
          time: options.tte[i],
          type: options.callPut[i] === 1 ? 'call' : 'put',
          underlying: options.spot[i],
        });
      }
    },
  };
}

function impliedVolatilityPackage({ getImpliedVolatility }: Module): VolatilityPeer {
  return {
    name: 'implied-volatility',
    note: 'no dividends; promises no accuracy finer than a cent of price',
    run({ count, spot, strike, tte, rate, callPut }, prices, iv) {
      for (let i = 0; i < count; i++) {
        const type = callPut[i] === 1 ? 'call' : 'put';
        iv[i] = getImpliedVolatility(prices[i], spot[i], strike[i], tte[i], rate[i], type);
      }
    },
  };
}
