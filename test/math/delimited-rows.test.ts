import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RowScanner, type RowSyntax } from '../../src/math/delimited-rows.ts';

const TABLE: RowSyntax = { delimiter: ',', linesMax: 3, charsMax: 40, isRaw: false };
const RAW: RowSyntax = {
  delimiter: ',',
  linesMax: Number.POSITIVE_INFINITY,
  charsMax: Number.POSITIVE_INFINITY,
  isRaw: true,
};

/** What `String.prototype.trim` removes, besides line breaks. */
const SPACES = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter(
  (each) => each.trim() === '' && each !== '\n' && each !== '\r',
);

function rowsOf(text: string | Uint8Array, syntax = TABLE) {
  const row = new RowScanner(syntax);
  const bytes = Buffer.from(text as string);
  const rows: { cells: string[]; flags: string }[] = [];
  for (let at = 0; at < bytes.length; ) {
    at = row.scan(bytes, at);
    for (let i = 0; i < row.rows; i++) {
      row.select(i);
      const flags = Object.entries({
        open: row.isOpen,
        malformed: row.isMalformed,
        long: row.isLong,
        last: !row.isTerminated && !row.isLong,
      });
      rows.push({ cells: cellsOf(row), flags: flags.flatMap(([name, is]) => (is ? [name] : [])).join(' ') });
    }
  }
  return rows;
}

function cellsOf(row: RowScanner): string[] {
  return Array.from({ length: row.count }, (_, cell) => row.text(cell));
}

describe('cells of a table', () => {
  test.each<[what: string, text: string | Uint8Array, rows: string[][], flags?: string[]]>([
    [
      'LF',
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'CRLF',
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'CR',
      'a,b\rc,d\r',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['no empty lines', '\n\r\n\r,\n \n', [['', ''], ['']]],
    ['no last line break', 'a,\nb', [['a', ''], ['b']], ['', 'last']],
    ['whitespace of any kind at the ends of cells', ' a b\t,\u00a0\u2009c\ufeff,\v, \n', [['a b', 'c', '', '']]],
    ['a byte-order mark before quotes', '\ufeff"a",b\n', [['a', 'b']]],
    ['quoted cells', '"a,b"," c ",""\n', [['a,b', 'c', '']]],
    ['doubled quotes', '"a""b","""",c""d\n', [['a"b', '"', 'c""d']]],
    ['line breaks in quotes', '"a\nb\r\nc",d\ne\n', [['a\nb\r\nc', 'd'], ['e']]],
    ['more lines than the maximum', '"a\nb\nc\nd"\n', [['a\nb\nc'], ['d"']], ['open', '']],
    ['quotes that end with the text', 'a,"b\n', [['a', 'b']], ['open last']],
    ['a quote within a cell', '5" pipe,a"b"\n', [['5" pipe', 'a"b"']]],
    ['spaces between a quote and a delimiter', '"a" \u2003,"b"\t,c\n', [['a', 'b', 'c']]],
    ['spaces between a quote and the end of the line', '"a"  \nb\n', [['a'], ['b']], ['malformed', '']],
    ['text after a quote', '"a"b",c\n', [['a"b', 'c']], ['malformed']],
    ['text after the only quote', '"a"b,c\n', [['a"b,c']], ['open malformed last']],
    ['a lone quote', '"\n', [['']], ['open last']],
    [
      'all whitespace of Unicode',
      SPACES.map((space) => `"a" ${space},${space} b${space}`).join('\n'),
      SPACES.map(() => ['a', 'b']),
      [...SPACES.slice(1).map(() => ''), 'last'],
    ],
    ['a part of whitespace', Buffer.from([0xc2, 0x61, 0xe2, 0x80, 0x22, 0x20, 0x0a]), [['\ufffda\ufffd"']]],
    ['bytes that are not UTF-8 or are zero', 'a\0b,\ud800\n', [['a\0b', '\ufffd']]],
  ])('%s', (_what, text, rows, flags = rows.map(() => '')) => {
    expect(rowsOf(text)).toEqual(rows.map((cells, i) => ({ cells, flags: flags[i]! })));
  });

  test.each([
    ['ASCII', 'x'.repeat(40), true],
    ['ASCII', 'x'.repeat(41), false],
    ['characters of three bytes', '\u20ac'.repeat(40), true],
    ['characters of three bytes', '\u20ac'.repeat(41), false],
    ['characters of four bytes', '\u{1f600}'.repeat(20), true],
    ['characters of four bytes', '\u{1f600}'.repeat(21), false],
    ['lines with CRLF', `"${'x'.repeat(17)}\r\n${'x'.repeat(20)}"`, true],
    ['lines with CRLF', `"${'x'.repeat(18)}\r\n${'x'.repeat(20)}"`, false],
    ['open quotes', `"${'x'.repeat(10)}\n${'x'.repeat(30)}`, false],
    ['one very long line', 'x,'.repeat(1_000), false],
  ])('a row of %s may have 40 characters', (_what, text, isShort) => {
    expect(
      rowsOf(`a\n${text}\nb\n`)
        .map(({ flags }) => flags.includes('long'))
        .slice(0, 2),
    ).toEqual([false, !isShort]);
  });

  test('a row has as many cells as it has delimiters', () => {
    const text = ','.repeat(1_000);
    expect(rowsOf(text, { ...TABLE, charsMax: 1_000 })[0]!.cells).toHaveLength(1_001);
  });

  test('rows may be longer than a block, and a block may end between CR and LF', () => {
    // Three rows have 128 KiB and one byte.
    const long = 'x'.repeat(43_689);
    for (const lines of [
      [long, long, long, 'a,b'],
      ['a', 'y'.repeat(150_000), `"${'z\n'.repeat(80_000)}",b`, 'c'],
    ]) {
      const rows = rowsOf(lines.map((line) => `${line}\r\n`).join(''), { ...TABLE, linesMax: 1e6, charsMax: 2e5 });
      expect(rows.map(({ cells }) => cells.join('|').length)).toEqual(
        lines.map((line) => line.replace(/^"|\n"|"$/g, '').length),
      );
      expect(rows.every(({ flags }) => flags === '')).toBe(true);
    }
  });

  test('other delimiters', () => {
    for (const delimiter of [';', '\t', '|'])
      expect(rowsOf(`a,b${delimiter}"c${delimiter}d" ${delimiter}\n`, { ...TABLE, delimiter })[0]!.cells).toEqual([
        'a,b',
        `c${delimiter}d`,
        '',
      ]);
  });

  test('reads back what a writer quotes', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', '\u2009', 'é'), maxLength: 6 });
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 }), (rows) => {
        const text = rows.map((row) => `${row.map((each) => `"${each.replaceAll('"', '""')}"`).join(',')}\n`).join('');
        const read = rowsOf(text, { ...TABLE, linesMax: 100, charsMax: 1_000 });
        expect(read).toEqual(rows.map((cells) => ({ cells: cells.map((each) => each.trim()), flags: '' })));
      }),
      { numRuns: 1_000 },
    );
  });
});

test.each<[text: string, cells: string[][], lines: number[]]>([
  [' a ,"b" \r\nc\rd\n', [[' a ', '"b" '], ['c\rd']], [0, 1, 2]],
  ['"a""b" ,"c,\r\n\nd"x"y,e\n', [['"a""b" ', '"c,\r\n\nd"x"y', 'e']], [0, 3]],
  ['5" pipe,1\nb"\r', [['5" pipe', '1'], ['b"']], [0, 1, 2]],
  ['\n\r\n,\n\r', [['', '']], [2, 4]],
])('raw cells of %j keep their bytes', (text, cells, lines) => {
  const row = new RowScanner(RAW);
  const bytes = Buffer.from(text);
  const read: string[][] = [];
  const counts: number[] = [];
  expect(row.scan(bytes, 0)).toBe(bytes.length);
  for (let i = 0; i < row.rows; i++) {
    row.select(i);
    read.push(cellsOf(row));
    counts.push(row.line);
  }
  expect([read, [...counts, row.lines]]).toEqual([cells, lines]);
});

test('a missing cell is empty, and a row may have more empty cells than columns', () => {
  const row = new RowScanner(TABLE);
  row.scan(Buffer.from('1.5,é, , \n'), 0);
  expect([row.text(1), row.text(4), row.text(-1)]).toEqual(['é', '', '']);
  expect([row.isBlank(), row.isBlank(2), row.isWhole(5), row.isWhole(4), row.isWhole(2), row.isWhole(1)]).toEqual([
    ...[false, true, false, true, true, false],
  ]);
});

describe('numbers of a column', () => {
  /** Returns the numbers of cells, which are the second column. The third column checks that columns do not mix. */
  const read = (cells: readonly string[]) => {
    const row = new RowScanner({ ...TABLE, charsMax: 2_000 });
    const bytes = Buffer.from(cells.map((cell, i) => `x,${cell},${i}\n`).join(''));
    const numbers: number[] = [];
    for (let at = 0; at < bytes.length; ) {
      at = row.scan(bytes, at);
      for (let i = 0; i < row.rows; i++) {
        row.select(i);
        expect(row.decimal(2)).toBe(numbers.length);
        numbers.push(row.decimal(1));
        expect([row.decimal(-1), row.decimal(9)]).toEqual([Number.NaN, Number.NaN]);
      }
    }
    return numbers;
  };

  test('has usual numbers', () => {
    const cells = [
      ...['0', '-0', '+1', '.5', '5.', '-12.25', '000012', '1.234567', '-1234567.', '12345678', '.1234567', '-9.87654'],
      ...['123456789', '0.123456789012345', '0.000000000000000000001', '123456789012345', '2.2504926550292965', '1e3'],
      ...['362.8599853515625', '123456789012345678', '1e-05', '2.5E+3', '0e999', '1234567890123456789', ' 7 '],
    ];
    expect(read(cells)).toEqual(cells.map(Number));
  });

  test('leaves other texts to the parser of texts', () => {
    const cells = [
      ...[
        '',
        '-',
        '+',
        '.',
        '-.',
        '+-1',
        '--1',
        'e5',
        '1e',
        '1e+',
        '1e5.',
        '1.2.3',
        '1..2',
        '1_000',
        '1\u20091',
        '0x10',
      ],
      ...[
        '9007199254740993',
        'nan',
        'inf',
        'Infinity',
        '12345678901234567890',
        '9'.repeat(400),
        '1:',
        '1/',
        'C',
        '"1""2"',
      ],
    ];
    expect(read(cells).filter((value) => !Number.isNaN(value))).toEqual([]);
  });

  test('more rows than a block has', () => {
    const cells = Array.from({ length: 5_000 }, (_, i) => (i % 7 === 0 ? '' : String(i / 7)));
    expect(read(cells)).toEqual(cells.map((cell) => (cell === '' ? Number.NaN : Number(cell))));
  });

  test('rounds like the parser of texts, also near the middle between two doubles', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 });
    const few = fc.string({ unit: fc.constantFrom(...'0123456789.'), maxLength: 9 });
    const middle = fc
      .double({ min: 1e-5, max: 1e5, noNaN: true })
      .map((value) => String((BigInt(Math.round(value * 2 ** 60)) * 10n ** 17n) / 2n ** 60n).padStart(18, '0'))
      .map((scaled) => `${scaled.slice(0, -17)}.${scaled.slice(-17)}`);
    const random = fc
      .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), digits)
      .map((parts) => parts.join(''));
    const shown = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toPrecision(17));
    let exact = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(few, middle, random, shown), { maxLength: 50 }), (texts) => {
        for (const [i, value] of read(texts).entries()) {
          if (Number.isNaN(value)) continue;
          exact++;
          expect(value).toBe(Number(texts[i]));
        }
      }),
      { numRuns: 3_000 },
    );
    expect(exact).toBeGreaterThan(5_000);
  });
});
