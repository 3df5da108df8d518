import { distinctOptions } from '../../src/bench/workloads.ts';
import { type GreekName, greeks, inMarketUnits, type OptionColumns } from '../../src/math/black-scholes.ts';

/** Columns of the answer, in the order of the binary answer. */
export const BATCH_GREEKS = [
  'price',
  'delta',
  'gamma',
  'vega',
  'theta',
  'rho',
  'vanna',
  'charm',
  'volga',
] as const satisfies readonly GreekName[];

export const BATCH_PATH = '/api/v1/physics/greeks/batch';
export const BINARY_TYPE = 'application/octet-stream';

/** Body of a batch of one underlying as JSON. */
export interface BatchBody {
  readonly put_call: readonly ('C' | 'P')[];
  readonly spot: number;
  readonly strike: readonly number[];
  readonly tte: readonly number[];
  readonly iv: readonly number[];
  readonly rate: number;
  readonly dividend: number;
}

/** Returns a batch of `count` options of one underlying. Strikes have two decimals, and volatilities four. */
export function batchOf(count: number): BatchBody {
  const { strike, spot, tte, iv } = distinctOptions(count);
  return {
    put_call: Array.from(strike, (_, i) => (i % 2 === 0 ? 'C' : 'P')),
    spot: 100,
    strike: Array.from(strike, (each, i) => Math.round((1e4 * each) / spot[i]!) / 100),
    tte: Array.from(tte),
    iv: Array.from(iv, (each) => Math.round(1e4 * each) / 1e4),
    rate: 0.04,
    dividend: 0.01,
  };
}

/** Parses a batch, calls the kernel and stringifies the answer. A batch as JSON needs at least this work. */
export function answerBatch(text: string): string {
  const body: BatchBody = JSON.parse(text);
  const count = body.strike.length;
  const columns = inMarketUnits(
    greeks({
      count,
      callPut: Float64Array.from(body.put_call, (side) => (side === 'C' ? 1 : -1)),
      spot: new Float64Array(count).fill(body.spot),
      strike: Float64Array.from(body.strike),
      tte: Float64Array.from(body.tte),
      iv: Float64Array.from(body.iv),
      rate: new Float64Array(count).fill(body.rate),
      dividend: new Float64Array(count).fill(body.dividend),
    }),
  );
  const arrays = Object.fromEntries(BATCH_GREEKS.map((name) => [name, Array.from(columns[name])]));
  return JSON.stringify({ count, units: 'market', ...arrays });
}

/**
 * Computes a batch with binary bodies. The body has seven columns of little-endian float64, one after the other: put_call (+1 call, -1
 * put), spot, strike, tte, iv, rate, dividend. The answer has the nine columns of BATCH_GREEKS as raw partial derivatives.
 */
export function answerBinaryBatch(body: ArrayBuffer): Uint8Array<ArrayBuffer> {
  const count = body.byteLength / Float64Array.BYTES_PER_ELEMENT / 7;
  const answer = new Float64Array(BATCH_GREEKS.length * count);
  const columns = greeks(optionsOf(new Float64Array(body), count));
  BATCH_GREEKS.forEach((name, i) => {
    answer.set(columns[name], i * count);
  });
  return new Uint8Array(answer.buffer);
}

/** Returns the options of a binary body. Their columns are views of `values`. */
export function optionsOf(values: Float64Array, count: number): OptionColumns {
  const [callPut, spot, strike, tte, iv, rate, dividend] = Array.from({ length: 7 }, (_, i) =>
    values.subarray(i * count, (i + 1) * count),
  ) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
  return { count, callPut, spot, strike, tte, iv, rate, dividend };
}
