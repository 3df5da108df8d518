import { describe, expect, test } from 'bun:test';
import { greeks } from '../../src/math/black-scholes.ts';
import { exposureSums, partialSums } from '../../src/math/exposure-kernels.ts';
import { reference } from './reference.ts';

const bsm = reference('bsm.csv');

/** The first rows of the reference, with weights of either sign. */
function book(count: number) {
  const column = (name: string) => bsm.column(name).slice(0, count);
  return {
    count,
    callPut: column('put_call'),
    spot: column('spot'),
    strike: column('strike'),
    tte: column('tte'),
    iv: column('iv'),
    rate: column('rate'),
    dividend: column('dividend'),
    weight: Float64Array.from({ length: count }, (_, i) => ((i * 7919) % 2001) - 1000),
  };
}

describe('exposure sums', () => {
  test.each([1, 2, 127, 128, 129, 1023, 1024, 1025, 4000])('of %d options equal the sums of their Greeks', (count) => {
    const options = book(count);
    exposureSums(book(4000)); // Leaves rows behind in the arena.
    const sums = exposureSums(options);
    const each = greeks(options);
    for (const [name, column, absolute] of [
      ['delta', each.delta, false],
      ['gamma', each.gamma, false],
      ['grossGamma', each.gamma, true],
      ['vanna', each.vanna, false],
      ['charm', each.charm, false],
    ] as const) {
      let [sum, gross] = [0, 0];
      column.forEach((value, i) => {
        const weighted = options.weight[i]! * value;
        sum += absolute ? Math.abs(weighted) : weighted;
        gross += Math.abs(weighted);
      });
      expect(Math.abs(sums[name] - sum), name).toBeLessThanOrEqual(1e-13 * gross);
    }
  });

  test.each([[[1024]], [[2048, 6]], [[2, 4, 1000]]])('of parts equal those of the whole bit for bit: %p', (ends) => {
    const whole = book(3001);
    const partial = partialSums();
    let sums = exposureSums(book(0), partial);
    let from = 0;
    for (const length of [...ends, 3001]) {
      const to = Math.min(from + length, 3001);
      const part = Object.entries(whole).map(([name, column]) => [
        name,
        column instanceof Float64Array ? column.subarray(from, to) : column,
      ]);
      sums = exposureSums({ ...(Object.fromEntries(part) as typeof whole), count: to - from }, partial);
      from = to;
    }
    expect(sums).toEqual(exposureSums(whole));
  });

  test('a scalar weight, an empty chain, a row with NaN, a column that is too short', () => {
    const options = book(300);
    const ones = exposureSums({ ...options, weight: new Float64Array(300).fill(2) });
    expect(exposureSums({ ...options, weight: 2 })).toEqual(ones);
    expect(exposureSums(book(0))).toEqual({ delta: 0, gamma: 0, grossGamma: 0, vanna: 0, charm: 0 });
    expect(exposureSums({ ...options, spot: Number.NaN }).delta).toBeNaN();
    expect(() => exposureSums({ ...options, weight: new Float64Array(2) })).toThrow('column weight has 2 rows');
  });
});
