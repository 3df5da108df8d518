import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { indexChain } from '../../bench/index-chain.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { CHAIN_COLUMNS, isPriced } from '../../src/market/chain.ts';
import { type ChainColumns, decodeChain, decodeHeader, encodeChain, isIntact } from '../../src/store/chain-codec.ts';
import { recordedChain, recordedNames } from '../analytics/recorded.ts';
import { simulated } from '../analytics/simulated.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { encodeFirstFormat } from './first-format.ts';
import { chainOf } from './samples.ts';

/** The fields that a blob has, with every number as its 64 bits. */
const inBits = ({ count, series, refused, seriesIndex, ...chain }: ChainColumns) => ({
  ...{ count, series, refused, seriesIndex: [...seriesIndex] },
  ...Object.fromEntries(CHAIN_COLUMNS.map((name) => [name, [...new BigUint64Array(chain[name].slice().buffer)]])),
});

/** The least factor by which a blob is smaller than a blob of the first format. */
const SMALLER_MIN = 1.45;

const value = fc.oneof(
  fc.constantFrom(
    0,
    Number.NaN,
    1e-5,
    0.1 + 0.2,
    2 ** 50,
    2 ** 53,
    -(2 ** 50),
    5e-324,
    1.7e308,
    Number.POSITIVE_INFINITY,
  ),
  fc.integer({ min: -5, max: 70_000 }),
  fc.integer({ min: 0, max: 1_000_000 }).map((cents) => cents / 100),
  fc.double({ noNaN: false }),
);
/** Columns of one kind of number each, so that all widths of whole numbers occur. */
const column = (count: number) =>
  fc
    .oneof(
      fc.array(value, { minLength: count, maxLength: count }),
      fc.double().map((each) => Array(count).fill(each)),
    )
    .map((values) => Float64Array.from(values, (each) => (Object.is(each, -0) ? 0 : each)));
const chain = fc.integer({ min: 0, max: 40 }).chain((count) =>
  fc
    .tuple(fc.array(fc.boolean(), { minLength: count, maxLength: count }), ...CHAIN_COLUMNS.map(() => column(count)))
    .map(
      ([isCall, ...columns]): ChainColumns => ({
        ...chainOf({ count }),
        ...Object.fromEntries(CHAIN_COLUMNS.map((name, i) => [name, columns[i]])),
        callPut: Float64Array.from(isCall, (each) => (each ? 1 : -1)),
      }),
    ),
);

test('both formats give back every bit of any chain', () => {
  fc.assert(
    fc.property(chain, (each) => {
      const [blob, first] = [encodeChain(each), encodeFirstFormat(each)];
      expect(inBits(decodeChain(blob, 'x'))).toEqual(inBits(each));
      expect(inBits(decodeChain(first, 'x'))).toEqual(inBits(each));
      const { count, series, refused } = each;
      for (const either of [blob, first]) {
        expect(decodeHeader(either, 'x')).toMatchObject({ count, series, refused, priced: isPriced(each) });
        expect(isIntact(either)).toBe(true);
      }
    }),
  );
});

test('-0 comes back as 0', () => {
  const delta = Float64Array.of(-0, 0.5, -0.25, Number.NaN, 1);
  const { delta: read } = decodeChain(encodeChain(chainOf({ delta })), 'x');
  expect([...read]).toEqual([0, 0.5, -0.25, Number.NaN, 1]);
});

test('a chain with a column of another length is refused', () => {
  expect(() => encodeChain(chainOf({ bid: new Float64Array(4) }))).toThrow(RangeError);
});

test('a change of any byte is noticed, in both formats', () => {
  for (const blob of [encodeChain(chainOf()), encodeFirstFormat(chainOf())]) {
    for (let at = 0; at < blob.length; at++) {
      const damaged = blob.with(at, blob[at]! ^ 1);
      expect(isIntact(damaged)).toBe(false);
      for (const decode of [decodeChain, decodeHeader]) expect(() => decode(damaged, 'x')).toThrow(OperatorError);
    }
    expect(isIntact(blob.subarray(0, 7))).toBe(false);
  }
});

test('the header is read without the columns', () => {
  const decompress = Bun.zstdDecompressSync;
  const sizes: number[] = [];
  const blob = encodeChain(simulated('SPY'));
  try {
    Bun.zstdDecompressSync = (packed, ...rest) => {
      const content = decompress(packed, ...rest);
      sizes.push(content.length);
      return content;
    };
    decodeHeader(blob, 'x');
  } finally {
    Bun.zstdDecompressSync = decompress;
  }
  expect(sizes).toHaveLength(1);
  expect(sizes[0]!).toBeLessThan(8_000);
});

test.each(['SPY', 'TSLA', 'UUP'])('a simulated chain of %s takes fewer bytes than in the first format', (ticker) => {
  const each = simulated(ticker);
  expect(encodeFirstFormat(each).length / encodeChain(each).length).toBeGreaterThan(SMALLER_MIN);
});

describeRecorded('blobs of recorded chains', (dir) => {
  test(`are at least ${SMALLER_MIN} times smaller than in the first format, and give back every bit`, () => {
    for (const name of recordedNames(dir)) {
      const each = recordedChain(dir, name);
      const [blob, first] = [encodeChain(each), encodeFirstFormat(each)];
      expect(first.length / blob.length, name).toBeGreaterThan(SMALLER_MIN);
      expect(inBits(decodeChain(blob, name)), name).toEqual(inBits(each));
    }
  });
});

test('a chain with more contracts than a kernel call reads comes back with every bit', () => {
  const large = indexChain(60, 800);
  expect(inBits(decodeChain(encodeChain(large), 'x'))).toEqual(inBits(large));
  const calls = { ...large, callPut: new Float64Array(large.count).fill(1) };
  expect(inBits(decodeChain(encodeChain(calls), 'x'))).toEqual(inBits(calls));
});
