import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { addDays, newYorkDate, settlementInstant, YEAR_MS } from '../../../src/market/calendar.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { settlementOf } from '../../../src/market/option-symbol.ts';
import type { VarianceClock } from '../../../src/market/variance-clock.ts';
import { heston, type Model, mertonMarket, ssvi } from '../../support/known-laws.ts';
import { AS_OF, contract, prepared, range } from '../small-chains.ts';

export const RATE = 0.04;
export const SPOT = 100;

const JUMPS = mertonMarket({ jumpIntensity: 1.2, jumpMean: -0.07, jumpVol: 0.06, iv: 0.16 });
const HESTON = heston({ v0: 0.04, kappa: 1.8, mean: 0.05, vol: 0.5, rho: -0.65 });

/** A market in which the price also moves at once, by a lognormal factor of mean 1, just after some instant. */
export function withEvent(model: Model, move: number, afterYears: number): Model {
  const step = 0.5;
  const nodes = Array.from({ length: 25 }, (_, i) => step * (i - 12));
  return (callPut, strike, years) => {
    if (years <= afterYears) return model(callPut, strike, years);
    let price = 0;
    for (const z of nodes) {
      const factor = Math.exp(move * z - (move * move) / 2);
      const probability = (step * Math.exp(-(z * z) / 2)) / Math.sqrt(2 * Math.PI);
      price += probability * factor * model(callPut, strike / factor, years);
    }
    return price;
  };
}

/** Dates of weekly and then monthly expiries, up to two years. */
export const EXPIRIES = [4, 11, 18, 25, 32, 39, 46, 74, 102, 165, 256, 382, 655].map((days) =>
  addDays(newYorkDate(AS_OF), days),
);

/** The quotes of a market whose variance passes by a clock. On the `paired` dates, options settle at the open and others at the close. */
export function market(model: Model, clock: VarianceClock, paired: readonly string[] = []): PreparedChain {
  const rows: ContractRow[] = [];
  const tick = paired.length > 0 ? 0.005 : 0.01;
  const close = paired.length > 0 ? 'SPXW' : 'ACME';
  for (const [root, expiry] of [...EXPIRIES.map((each) => [close, each]), ...paired.map((each) => ['SPX', each])]) {
    const at = settlementInstant(expiry!, settlementOf(root!));
    const tte = (at - AS_OF) / YEAR_MS;
    const discount = Math.exp(-RATE * tte);
    const forward = SPOT / discount;
    for (const strike of range(40, 220, tte < 0.15 ? 1 : 2.5)) {
      for (const callPut of [1, -1]) {
        const price = discount * forward * model(callPut, strike / forward, clock.years(at));
        if (price < 2 * tick) continue;
        const [bid, ask] =
          paired.length > 0
            ? [Math.floor(price / tick - 1) * tick, Math.ceil(price / tick + 1) * tick]
            : [price - tick, price + tick];
        rows.push(contract({ root: root!, expiry: expiry!, strike, callPut, bid, ask }));
      }
    }
  }
  return prepared(rows, {}, paired.length > 0 ? { underlying: 'SPX' } : {});
}

/** Markets without an event. */
export const MODELS: [string, Model][] = [
  ['a flat volatility', ssvi((years) => 0.09 * years, 0, 1e-6, 0.5)],
  ['SSVI', ssvi((years) => 0.04 * years + 0.01 * (1 - Math.exp(-2 * years)), -0.6, 1, 0.45)],
  ['Merton', JUMPS],
  ['Heston', HESTON],
];
