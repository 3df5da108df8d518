import { describe, expect, test } from 'bun:test';
import { RowItem } from '../../assembly/columns.ts';
import { ByteText, readNumbers } from '../../src/math/decimals.ts';
import { RowScanner } from '../../src/math/delimited-rows.ts';

/** By hand: `ZOMMA_RANDOM_DOUBLES=10000000 bun test test/math/decimals.test.ts --timeout 600000`. */
const RANDOM = Number(process.env.ZOMMA_RANDOM_DOUBLES ?? 200_000);
const BATCH = 5_000;

const text = (values: Float64Array | readonly (number | null)[], digits?: number) => {
  const written = new ByteText(1);
  expect(written.addNumbers(values, digits)).toBe(true);
  return written.toString();
};

const word = new Uint32Array(2);
const double = new Float64Array(word.buffer);
const int32 = () => Math.floor(Math.random() * 2 ** 32);
const any = (upper: number, lower: number) => {
  word.set([lower, upper]);
  return double[0]!;
};
const power = (from: number, to: number) => 10 ** Math.floor(from + (to - from) * Math.random());

/** Draws doubles. All exponents, also subnormal numbers, have the same probability in the first. */
const DRAWS: Readonly<Record<string, () => number>> = {
  'any bits': () => any(int32(), int32()),
  'powers of two and their neighbours': () => any((int32() & 0xfff) * 2 ** 20, int32() % 3),
  'below a power of two': () => any((int32() & 0xfff) * 2 ** 20 + 0xfffff, -1 - (int32() % 3)),
  subnormal: () => any(int32() & 0xfffff, int32()),
  'usual sizes': () => (Math.random() - 0.5) * power(-9, 12),
  'few decimals': () => Math.round(Math.random() * 1e6) / power(0, 9),
  'whole numbers': () => Math.round((Math.random() - 0.5) * power(0, 24)),
  halves: () => (Math.floor(Math.random() * 1e4) + 0.5) / 2 ** Math.floor(Math.random() * 20),
};
const draws = Object.entries(DRAWS);

/** Calls `check` with columns of random doubles: RANDOM in all. */
function forRandom(draw: () => number, check: (values: Float64Array) => void): void {
  for (let left = RANDOM / draws.length; left > 0; left -= BATCH) {
    check(Float64Array.from({ length: Math.min(BATCH, left) }, draw));
  }
}

describe('all digits', () => {
  test.each(draws)('%s: the text is that of JSON.stringify, and gives the same doubles', (_, draw) => {
    forRandom(draw, (values) => {
      const written = text(values);
      // A comparison of whole texts is fast. The message of a comparison of lists names the numbers that differ.
      if (`[${written}]` !== JSON.stringify([...values])) {
        expect(written.split(',')).toEqual([...values].map((each) => JSON.stringify(each)));
      }
    });
  });

  test.each([
    0,
    -0,
    1,
    -1,
    10,
    0.1,
    0.3,
    1e21,
    1e20,
    123456789012345680000,
    1e-6,
    1e-7,
    1.5e-7,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    9007199254740992,
    4.35,
    0.000001234,
    2 ** 53,
    2 ** -1074,
    2 ** 1023,
    1e23,
    9.5e-5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ])('%p', (value) => {
    expect(text([value])).toBe(JSON.stringify(value));
    expect(text([-value])).toBe(JSON.stringify(-value));
  });
});

test.each(draws)('%s: fewer digits are rounded exactly, and whole numbers stay', (_, draw) => {
  let digits = 0;
  forRandom(draw, (values) => {
    digits = (digits % 15) + 1;
    const written = text(values, digits);
    const expected = Array.from(values, (each) =>
      Number.isFinite(each) && !Number.isInteger(each) ? Number(each.toPrecision(digits)) : each,
    );
    if (`[${written}]` !== JSON.stringify(expected)) {
      expect(written.split(',')).toEqual(expected.map((each) => JSON.stringify(each)));
    }
  });
});

test.each([
  [0.5, 1, '0.5'],
  [1.5 + 2 ** -20, 7, '1.500001'],
  [1_234_567_890.5, 10, '1234567891'],
  [-1_234_567_890.5, 10, '-1234567891'],
  [9.99999999995, 10, '10'],
  [4.35, 17, '4.35'],
  [1 / 3, 16, '0.3333333333333333'],
])('%p with %p digits is %p', (value, digits, expected) => {
  expect(text([value], digits)).toBe(expected);
});

test('every power of two', () => {
  const powers = Float64Array.from({ length: 2_098 }, (_, i) => 2 ** (i - 1_074));
  expect(`[${text(powers)}]`).toBe(JSON.stringify([...powers]));
});

test('null and numbers share a column; other values leave the text unchanged', () => {
  expect(text([1, null, 0.5])).toBe('1,null,0.5');
  const written = new ByteText(1);
  written.add('"é":');
  expect(written.addNumbers([...Array(5_000).fill(1), 'x'])).toBe(false);
  expect(written.toString()).toBe('"é":');
});

test('a column is longer than the text area of one call', () => {
  const values = Float64Array.from({ length: 50_001 }, () => -Math.random() * 1e-300);
  expect(`[${text(values)}]`).toBe(JSON.stringify([...values]));
});

describe('reading numbers', () => {
  const numbersIn = (given: string) => {
    const bytes = Buffer.from(`x${given}]`);
    return readNumbers(bytes, 1, bytes.length - 1);
  };

  /** Subnormal and very large numbers, and the middle of two doubles, are left to the parser. */
  const isLeft = (text: string) => {
    const size = Math.abs(Number(text));
    return size < 1e-270 || size > 2 ** 1022 || (size >= 2 ** 53 && text.replace(/\D/g, '').length > 15);
  };

  test.each(draws)('%s: reads what JSON.parse reads', (_, draw) => {
    forRandom(draw, (values) => {
      const given = [...values].filter(Number.isFinite).flatMap((each) => [JSON.stringify(each), each.toPrecision(12)]);
      const usual = given.filter((each) => !isLeft(each));
      if (usual.length > 0) expect(numbersIn(usual.join(' ,'))).toEqual(Float64Array.from(usual, Number));
      for (const each of given.filter(isLeft)) expect([Number(each), undefined]).toContain(numbersIn(each)?.[0]);
    });
  });

  test.each([
    ...['1', '-0', '0', '-0.0e5', '1e5', '1E+05', '0.1e-2', ' 1\n,\t2\r', '0e999', '0.1234567890123456789', '1e22'],
    ...['9223372036854775808', '8.5e-22', '0.0000000000000000000001234567890123456789', '1.797693134862315e+307'],
  ])('%p', (given) => {
    expect(numbersIn(given)).toEqual(Float64Array.from(JSON.parse(`[${given}]`)));
  });

  test.each([
    ...['12345678901234567890', '9007199254740993', '1e309', '2.5e-324', '1e-400', '1e23', '4503599627370497.5'],
    ...['', ' ', ',', '1,', ',1', '1,,2', '01', '-', '+1', '.5', '1.', '1e', '1e+', '0x10', 'NaN', 'Infinity', '1_000'],
    ...['1 2', '"1"', 'null', '1,null', '[1', '1\u00a0', '--1', '1.2.3', '1e5.5', '-01', '00', '\0', '1\0', '1e99999'],
    ...['1,'.repeat(40_000) + 1, ' '.repeat(2_000_000)],
  ])('%p is not read', (given) => {
    expect(numbersIn(given)).toBeUndefined();
  });
});

/** No double has a longer text. */
const LONGEST = -1.2345678901234568e-300;

describe('rows', () => {
  const [copied, separator] = [RowItem.copied, RowItem.separator];

  /** Writes the rows of each block in two parts. */
  const written = (pattern: readonly number[], rows: readonly string[], columns: readonly Float64Array[]) => {
    const syntax = { delimiter: ',', linesMax: 1, charsMax: 2 ** 20, isRaw: true };
    const [scanner, text] = [new RowScanner(syntax), new ByteText(1)];
    const bytes = Buffer.from(rows.map((row) => `${row}\n`).join(''), 'latin1');
    for (let at = 0, done = 0; at < bytes.length; done += scanner.rows) {
      at = scanner.scan(bytes, at);
      const [half, own] = [scanner.rows >> 1, columns.map((column) => column.subarray(done, done + scanner.rows))];
      text.addRows(0, half, Int32Array.from(pattern), own);
      text.addRows(half, scanner.rows, Int32Array.from(pattern), own);
    }
    return Buffer.from(text.bytes()).toString('latin1');
  };

  test.each<[what: string, pattern: number[], rows: string[][]]>([
    [
      'outputs after the row',
      [copied, 0, 3, separator, 0, separator, 1],
      [
        ['1', '2'],
        ['', ''],
        ['"a, b"', '\xff'],
      ],
    ],
    [
      'an output in the middle',
      [copied, 0, 2, 1, copied, 3, 5, separator, 0],
      [
        ['a', 'old', 'b'],
        ['', '', ''],
        ['x'.repeat(40), '', 'y'],
      ],
    ],
    ['outputs in all cells', [copied, 0, 0, 1, copied, 1, 2, 0, copied, 3, 3], Array(20).fill(['a', 'b'])],
    [
      'a row longer than a block',
      [copied, 0, 2, 0, copied, 3, 3],
      [
        ['a', 'b'],
        ['x'.repeat(200_000), 'y'],
        ['c', 'd'],
      ],
    ],
    ['several blocks', [copied, 0, 1, 1], Array.from({ length: 3_000 }, (_, i) => ['z'.repeat(1 + (i % 200))])],
    ['no rows', [copied, 0, 1], []],
  ])('%s', (_, pattern, rows) => {
    const columns = [0, 1].map((at) =>
      Float64Array.from(rows, (_, row) => (row % 5 === 4 ? Number.NaN : (row + 1) / (at + 3))),
    );
    const texts = rows.map((cells) => cells.join(','));
    const expected = rows.map((cells, row) => {
      const ends = cells.map((_, i) => cells.slice(0, i + 1).join(',').length);
      const bounds = cells.flatMap((cell, i) => [ends[i]! - cell.length, ends[i]!]);
      let line = '';
      for (let i = 0; i < pattern.length; i++) {
        const item = pattern[i]!;
        if (item === separator) line += ',';
        else if (item === copied) line += texts[row]!.slice(bounds[pattern[++i]!], bounds[pattern[++i]!]);
        else line += Number.isNaN(columns[item]![row]) ? '' : columns[item]![row];
      }
      return `${line}\n`;
    });
    expect(written(pattern, texts, columns)).toBe(expected.join(''));
  });

  test('the longest numbers of a full block fit', () => {
    const count = 1_024;
    expect(String(LONGEST)).toHaveLength(24);
    const columns = Array.from({ length: 9 }, () => new Float64Array(count).fill(LONGEST));
    const pattern = [copied, 0, 1, ...columns.flatMap((_, i) => [separator, i])];
    const row = 'a'.repeat(127);
    expect(written(pattern, Array(count).fill(row), columns)).toBe(`${row}${`,${LONGEST}`.repeat(9)}\n`.repeat(count));
  });

  test('refuses more columns than the text area has room for', () => {
    const columns = Array.from({ length: 10 }, () => new Float64Array(1));
    expect(() => written([copied, 0, 1], ['a'], columns)).toThrow('a table has at most 9 columns');
  });
});
