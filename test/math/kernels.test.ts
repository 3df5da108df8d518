import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { callPutGreeks, greeks, type Option } from '../../src/math/black-scholes.ts';
import { gammaByStrike, gammaProfile } from '../../src/math/gamma-exposure.ts';
import { impliedVolatility } from '../../src/math/implied-volatility.ts';
import { merton, mertonProbabilities } from '../../src/math/jump-diffusion.ts';
import { arenaColumn, CHUNK_ROWS, kernels, mapColumns } from '../../src/math/kernels.ts';
import type { JumpOption } from '../fixtures/exact.ts';
import { columnsOf, drawJumpOptions, drawOptions, edgePrices, gridPrices } from '../fixtures/vectors.ts';
import { EPSILON } from './reference.ts';

test('the arena lies above the module’s own data, and its columns do not overlap', () => {
  expect(arenaColumn(0).byteOffset).toBeGreaterThanOrEqual(kernels.heapBase());
  // Room for one row beyond an odd count, and no multiple of a page of 4,096 bytes.
  const distance = arenaColumn(1).byteOffset - arenaColumn(0).byteOffset;
  expect(distance).toBeGreaterThan(CHUNK_ROWS * 8);
  expect(distance % 4096).toBeGreaterThanOrEqual(64);
  expect(distance % 16).toBe(0);
  expect(arenaColumn(31)).toHaveLength(CHUNK_ROWS);
});

test('rejects a column beyond the arena', () => {
  expect(() => arenaColumn(32)).toThrow('the kernel arena has 32 columns, so there is no column 32');
  const layout = { a: 0, far: 32 };
  expect(() => mapColumns(() => {}, 1, layout, { far: 0 }, [])).toThrow('there is no column 32');
  expect(() => mapColumns(() => {}, 1, layout, { a: 0 }, [layout.far])).toThrow('there is no column 32');
  expect(() => mapColumns(() => {}, 1, layout, { b: 0 }, [])).toThrow('there is no column undefined');
});

test('chunks cover every row once, with the constants in each chunk', () => {
  const counts: number[] = [];
  const add = (count: number, block: number) => {
    counts.push(count);
    expect(block).toBe(arenaColumn(0).byteOffset);
    const [x, y, z] = [arenaColumn(3), arenaColumn(1), arenaColumn(5)];
    for (let row = 0; row < count; row++) z[row] = x[row]! + y[row]!;
  };
  const count = 2 * CHUNK_ROWS + 5;
  const a = Float64Array.from({ length: count }, (_, i) => i);
  const [sum] = mapColumns(add, count, { b: 1, a: 3 }, { a, b: 0.5 }, [5]);
  expect(sum).toEqual(a.map((value) => value + 0.5));
  expect(counts).toEqual([CHUNK_ROWS, CHUNK_ROWS, 5]);
});

test('a build without changes prints nothing, and an unknown step is named in the error', () => {
  const build = (step: string) =>
    Bun.spawnSync([process.execPath, 'build.ts', step], { cwd: join(import.meta.dir, '../..') });
  build('kernels');
  const again = build('kernels');
  expect(again.exitCode).toBe(0);
  expect(again.stdout.toString()).toBe('');
  const unknown = build('kernel');
  expect(unknown.exitCode).toBe(1);
  expect(unknown.stderr.toString()).toContain('no step "kernel"');
});

/** As many rows as `all` has, repeated from the first if `all` has fewer. */
const repeated = <Row>(all: readonly Row[], count: number) =>
  Array.from({ length: count }, (_, i) => all[i % all.length]!);

/** Reorders rows so that rows of every kind are adjacent. */
const mixed = <Row>(all: readonly Row[]) => all.map((_, i) => all[(i * 7919) % all.length]!);

const options: readonly Option[] = mixed(drawOptions(520));
const jumpOptions: readonly JumpOption[] = mixed(drawJumpOptions(530));
const prices = mixed([
  ...gridPrices().filter((_, i) => i % 20 === 0),
  ...edgePrices().filter((_, i) => i % 12 === 0),
]).map(({ option, price }) => ({ ...option, price }));
const discounts = (rows: readonly Option[]) => ({
  discount: Float64Array.from(rows, ({ rate, tte }) => Math.exp(-rate * tte)),
  dividendDiscount: Float64Array.from(rows, ({ dividend, tte }) => Math.exp(-dividend * tte)),
});
const both = ({ call, put }: ReturnType<typeof callPutGreeks>) => [...Object.values(call), ...Object.values(put)];

/** Kernels that compute row by row: their rows, and all their output columns for some rows. */
const ROW_KERNELS: readonly (readonly [string, readonly object[], (rows: never) => readonly Float64Array[]])[] = [
  ['greeks', options, (rows: Option[]) => Object.values(greeks(columnsOf(rows, options[0])))],
  [
    'greeks, discounts given',
    options,
    (rows: Option[]) => Object.values(greeks(columnsOf(rows, options[0]), discounts(rows))),
  ],
  ['call and put', options, (rows: Option[]) => both(callPutGreeks(columnsOf(rows, options[0])))],
  [
    'call and put, discounts given',
    options,
    (rows: Option[]) => both(callPutGreeks(columnsOf(rows, options[0]), discounts(rows))),
  ],
  ['implied volatility', prices, (rows: typeof prices) => [impliedVolatility(columnsOf(rows, prices[0]))]],
  ['jump diffusion', jumpOptions, (rows: JumpOption[]) => Object.values(merton(columnsOf(rows, jumpOptions[0])))],
  [
    'jump diffusion, only probabilities',
    jumpOptions,
    (rows: JumpOption[]) => Object.values(mertonProbabilities(columnsOf(rows, jumpOptions[0]))),
  ],
];

describe.each(ROW_KERNELS)('%s, row by row', (_, rows, answersTo) => {
  const answers = (some: readonly object[]) => answersTo(some as never);
  const alone = rows.slice(0, 300).map((row) => answers([row]).map((column) => column[0]!));
  const expectAlone = (columns: readonly Float64Array[], from = 0, every = 1) => {
    const differing: number[] = [];
    for (let i = from; i < columns[0]!.length; i += every) {
      const own = alone[((i - from) / every) % alone.length]!;
      // Equal bit for bit, except for the kind of NaN.
      if (columns.some((column, output) => !Object.is(column[i], own[output]))) differing.push(i);
    }
    expect(differing).toEqual([]);
  };

  test.each([0, 1, 2, 3, 7, 127, 128, 129, 1023, 1024, 1025, 2047, 2048, 2049, 20_000])('%d rows', (count) => {
    // Data left in the arena by an earlier call must not matter.
    answers(rows);
    const columns = answers(repeated(rows.slice(0, 300), count));
    for (const column of columns) expect(column).toHaveLength(count);
    expectAlone(columns);
  });

  const anyRow = rows[0]!;
  const all = (value: number) => Object.fromEntries(Object.keys(anyRow).map((name) => [name, value]));
  test.each([
    ['NaN', all(Number.NaN)],
    ['zeros', all(0)],
    ['infinities', all(Number.POSITIVE_INFINITY)],
    ['negative numbers', all(-1)],
    ['tiny numbers', all(1e-300)],
    ['huge numbers', all(1e300)],
  ])('next to rows of %s', (_, other) => {
    const some = rows.slice(0, 300);
    expectAlone(answers(some.flatMap((row) => [row, other])), 0, 2);
    expectAlone(answers(some.flatMap((row) => [other, row])), 1, 2);
  });

  test('in reverse order', () => {
    const some = rows.slice(0, 300).toReversed();
    const columns = answers(some);
    expectAlone(columns.map((column) => column.toReversed()));
  });
});

describe('sums over rows equal the sums of single rows', () => {
  const book = options.map(({ callPut, spot: _, ...contract }, i) => ({
    ...contract,
    weight: callPut * (1 + (i % 50)),
  }));
  const counts = [1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 2049];
  /** Equal within the rounding of that many sums. */
  const expectSum = (sum: number, terms: readonly number[], relative: number) => {
    const gross = terms.reduce((total, term) => total + Math.abs(term), 0);
    const total = terms.reduce((partial, term) => partial + term, 0);
    expect(Math.abs(sum - total)).toBeLessThanOrEqual(relative * gross);
  };
  const spots = options[0]!.spot;

  test.each(counts)('gamma profile of %d', (count) => {
    const contracts = repeated(book, count).map((contract, i) => ({
      ...contract,
      strike: spots * (0.5 + (i % 97) / 97),
    }));
    const listed = Float64Array.from({ length: 5 }, (_, i) => spots * (0.7 + i / 8));
    const apart = { first: 0.8 * spots, step: 0.005, count: 90 };
    for (const [levels, relative] of [
      [listed, EPSILON * (count + 1)],
      [apart, 1e-12],
    ] as const) {
      const each = contracts.map((contract) => gammaProfile({ count: 1, ...contract }, levels));
      gammaProfile(columnsOf(contracts), levels).forEach((sum, level) => {
        expectSum(
          sum,
          each.map((profile) => profile[level]!),
          relative,
        );
      });
    }
  });

  test.each(counts)('gamma by strike of %d', (count) => {
    const gamma = Float64Array.from({ length: count }, (_, i) => 1 / (i + 3));
    const weight = Float64Array.from({ length: count }, (_, i) => (i % 11) - 5);
    const strikes = Uint32Array.from({ length: count }, (_, i) => (i * 31) % 5);
    const sums = gammaByStrike(gamma, weight, strikes, 5);
    for (const strike of [0, 1, 2, 3, 4]) {
      const terms = [...gamma].flatMap((value, i) => (strikes[i] === strike ? [value * weight[i]!] : []));
      expectSum(sums[strike]!, terms, EPSILON * (count + 1));
    }
  });
});
