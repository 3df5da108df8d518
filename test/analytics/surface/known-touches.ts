import type { PreparedChain } from '../../../src/analytics/chain/prepared-chain.ts';
import { closeOf, YEAR_MS } from '../../../src/market/calendar.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { inverseNormalCdf } from '../../../src/math/normal.ts';
import { type Heston, type JumpTerms, type Model, type SsviShape, ssviVariance } from '../../support/known-laws.ts';
import { AS_OF, contract, prepared } from '../small-chains.ts';
import { EXPIRIES, RATE } from './known-markets.ts';

/** Spot of the quoted markets, dollars. */
export const QUOTED_SPOT = 400;
/** Distances of the barriers from spot, in standard deviations at the money. */
export const BARRIERS = [-2.5, -2, -1.5, -1, -0.6, -0.3, 0.3, 0.6, 1, 1.5, 2, 2.5];

/** Quotes of a market in calendar time: strikes up to three standard deviations, bid and ask on ticks. */
export function tickMarket(model: Model, deviationOf: (years: number) => number): PreparedChain {
  const rows: ContractRow[] = [];
  for (const expiry of EXPIRIES) {
    const tte = (closeOf(expiry) - AS_OF) / YEAR_MS;
    const discount = Math.exp(-RATE * tte);
    const forward = QUOTED_SPOT / discount;
    const reach = 3 * deviationOf(tte);
    const every = [1, 2, 5, 10, 20].find((step) => QUOTED_SPOT * reach < 30 * step) ?? 40;
    const first = Math.ceil((forward * Math.exp(-reach)) / every) * every;
    for (let strike = first; strike <= forward * Math.exp(reach); strike += every) {
      for (const callPut of [1, -1]) {
        const price = discount * forward * model(callPut, strike / forward, tte);
        const tick = price < 3 ? 0.01 : 0.05;
        const half = 0.01 + 0.01 * price;
        const [bid, ask] = [tick * Math.floor((price - half) / tick), tick * Math.ceil((price + half) / tick)];
        if (bid > 0) rows.push(contract({ expiry, strike, callPut, bid, ask }));
      }
    }
  }
  return prepared(rows, {}, { spot: QUOTED_SPOT });
}

/** Touch probabilities up to `years`, for log-distances of barriers from spot. */
export type Touches = (years: number, barriers: readonly number[]) => number[];

/** The diffusion whose options have SSVI's prices (Gatheral's formula for the local variance), on a uniform grid of the log-price. */
export function ssviTouches(shape: SsviShape): Touches {
  const local = (x: number, t: number) => {
    const [dx, dt] = [1e-3, 1e-4 * t];
    const w = ssviVariance(shape, x, t);
    const [low, high] = [ssviVariance(shape, x - dx, t), ssviVariance(shape, x + dx, t)];
    const [slope, bend] = [(high - low) / (2 * dx), (high - 2 * w + low) / (dx * dx)];
    const growth = (ssviVariance(shape, x, t + dt) - ssviVariance(shape, x, t - dt)) / (2 * dt);
    return growth / (1 - (x / w) * slope + ((-0.25 - 1 / w + (x * x) / (w * w)) * slope * slope) / 4 + bend / 2);
  };
  return (years, barriers) => {
    const deviation = Math.sqrt(ssviVariance(shape, 0, years));
    // All barriers are nodes: multiples of h.
    const [steps, h, half] = [250, deviation / 100, 650];
    const x = Float64Array.from({ length: 2 * half + 1 }, (_, i) => h * (i - half));
    // At the start, the law is normal with a deviation of a sixth of the distance of the nearest barrier.
    const start = years * 0.05 ** 2;
    const spread = local(0, start) * start;
    const law = x.map((each) => Math.exp(-((each - RATE * start + spread / 2) ** 2) / (2 * spread)));
    const all = law.reduce((sum, each) => sum + each, 0);
    const alive = barriers.map((barrier) => {
      const at = half + Math.round(barrier / h);
      const [from, end] = barrier > 0 ? [0, at] : [at + 1, x.length];
      return { from, end, density: law.slice(from, end).map((each) => each / all) as Float64Array };
    });
    for (let j = 0; j < steps; j++) {
      // Time steps grow with time, so the first ones are short.
      const at = (n: number) => start + (years - start) * (n / steps) ** 2;
      const [t, dt] = [(at(j) + at(j + 1)) / 2, at(j + 1) - at(j)];
      const variance = x.map((each) => local(each - RATE * t, t));
      const rate = (side: number) =>
        variance.map((each) => (dt * each) / (2 * h * h) + (side * dt * (RATE - each / 2)) / (2 * h));
      const [up, down] = [rate(1), rate(-1)];
      // Nothing leaves the grid, except at a barrier.
      up[x.length - 1] = 0;
      down[0] = 0;
      for (const each of alive) {
        const { from, end } = each;
        each.density = crankNicolson(each.density, up.subarray(from, end), down.subarray(from, end));
      }
    }
    return alive.map(({ density }) => 1 - density.reduce((sum, each) => sum + each, 0));
  };
}

/** One step of a chain that can leave the nodes at both ends. `up` and `down` are the rates of moving to the nodes beside each node. */
function crankNicolson(density: Float64Array, up: Float64Array, down: Float64Array): Float64Array {
  const last = density.length - 1;
  const [factor, solved] = [new Float64Array(last + 1), new Float64Array(last + 1)];
  for (let i = 0; i <= last; i++) {
    const [into, back] = [i === 0 ? 0 : up[i - 1]! / 2, i === last ? 0 : down[i + 1]! / 2];
    const out = (up[i]! + down[i]!) / 2;
    const old = density[i]! * (1 - out) + into * (density[i - 1] ?? 0) + back * (density[i + 1] ?? 0);
    const pivot = 1 + out + into * (factor[i - 1] ?? 0);
    factor[i] = -back / pivot;
    solved[i] = (old + into * (solved[i - 1] ?? 0)) / pivot;
  }
  for (let i = last - 1; i >= 0; i--) solved[i]! -= factor[i]! * solved[i + 1]!;
  return solved;
}

/** Jump diffusion: exact, because paths between two jumps are Brownian bridges. */
export function mertonTouches(terms: JumpTerms, paths: number): Touches {
  const { iv, jumpIntensity, jumpMean, jumpVol } = terms;
  const compensator = jumpIntensity * Math.expm1(jumpMean + (jumpVol * jumpVol) / 2);
  return bridgedTouches(paths, iv, RATE - compensator, (random) => ({
    wait: () => -Math.log(random.uniform()) / jumpIntensity,
    size: () => jumpMean + jumpVol * random.normal(),
  }));
}

/** A diffusion of constant volatility, whose price also moves by a lognormal factor of mean 1 at one instant. */
export function eventTouches(iv: number, move: number, atYears: number, paths: number): Touches {
  return bridgedTouches(paths, iv, RATE, (random) => {
    const waits = [atYears];
    return {
      wait: () => waits.pop() ?? Number.POSITIVE_INFINITY,
      size: () => move * random.normal() - (move * move) / 2,
    };
  });
}

type Jumps = (random: ReturnType<typeof randomOf>) => { wait(): number; size(): number };

function bridgedTouches(paths: number, iv: number, growth: number, jumpsOf: Jumps): Touches {
  const drift = growth - (iv * iv) / 2;
  return (years, barriers) => {
    const random = randomOf(7);
    const sum = new Float64Array(barriers.length);
    for (let path = 0; path < paths; path++) {
      const jumps = jumpsOf(random);
      const missed = barriers.map(() => 1);
      for (let t = 0, x = 0; t < years; ) {
        const step = Math.min(years - t, jumps.wait());
        const next = x + drift * step + iv * Math.sqrt(step) * random.normal();
        bridge(missed, barriers, x, next, iv * iv * step);
        t += step;
        x = t < years ? next + jumps.size() : next;
        for (const [i, barrier] of barriers.entries()) if (Math.sign(barrier) * (x - barrier) >= 0) missed[i] = 0;
      }
      for (const [i, each] of missed.entries()) sum[i]! += 1 - each;
    }
    return Array.from(sum, (each) => each / paths);
  };
}

/** Heston's model: the variance by the quadratic-exponential scheme (Andersen 2008), the log-price by bridges between the steps. */
export function hestonTouches({ v0, kappa, mean, vol, rho }: Heston, paths: number, steps: number): Touches {
  return (years, barriers) => {
    const random = randomOf(11);
    const sum = new Float64Array(barriers.length);
    const [dt, decay] = [years / steps, Math.exp((-kappa * years) / steps)];
    for (let path = 0; path < paths; path++) {
      const missed = barriers.map(() => 1);
      let [x, v] = [0, v0];
      for (let i = 0; i < steps; i++) {
        const expected = mean + (v - mean) * decay;
        const spread =
          ((v * vol * vol * decay) / kappa) * (1 - decay) + ((mean * vol * vol) / (2 * kappa)) * (1 - decay) ** 2;
        const ratio = spread / (expected * expected);
        let next: number;
        if (ratio < 1.5) {
          const b = 2 / ratio - 1 + Math.sqrt(2 / ratio) * Math.sqrt(2 / ratio - 1);
          next = (expected / (1 + b)) * (Math.sqrt(b) + random.normal()) ** 2;
        } else {
          const p = (ratio - 1) / (ratio + 1);
          const u = random.uniform();
          next = u <= p ? 0 : (expected * Math.log((1 - p) / (1 - u))) / (1 - p);
        }
        const average = (v + next) / 2;
        const common = (rho / vol) * (next - v - kappa * (mean - average) * dt);
        const variance = (1 - rho * rho) * average * dt;
        const to = x + RATE * dt - (average * dt) / 2 + common + Math.sqrt(variance) * random.normal();
        // Between the ends of a short step, the path is a Brownian bridge with the variance of the whole step.
        bridge(missed, barriers, x, to, average * dt);
        [x, v] = [to, next];
      }
      for (const [i, each] of missed.entries()) sum[i]! += 1 - each;
    }
    return Array.from(sum, (each) => each / paths);
  };
}

/** Multiplies the chance that each barrier was missed by the chance that the bridge from one log-price to another misses it. */
function bridge(missed: number[], barriers: readonly number[], from: number, to: number, variance: number): void {
  for (let i = 0; i < barriers.length; i++) {
    if (missed[i] === 0) continue;
    const barrier = barriers[i]!;
    const room = (barrier - from) * (barrier - to);
    const isBeyond = Math.sign(barrier) * (to - barrier) >= 0;
    if (isBeyond) missed[i] = 0;
    else if (room < 10 * variance) missed[i]! *= -Math.expm1((-2 * room) / Math.max(variance, 1e-30));
  }
}

/** Random numbers from a fixed seed (mulberry32). */
function randomOf(seed: number) {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (((t ^ (t >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
  return { uniform, normal: () => inverseNormalCdf(uniform()) };
}
