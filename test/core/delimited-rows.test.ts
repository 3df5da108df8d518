import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CellRow, RowScanner, type RowSyntax } from '../../src/core/delimited-rows.ts';

const TABLE: RowSyntax = { delimiter: ',', linesMax: 3, charsMax: 40, isRaw: false };
const RAW: RowSyntax = {
  delimiter: ',',
  linesMax: Number.POSITIVE_INFINITY,
  charsMax: Number.POSITIVE_INFINITY,
  isRaw: true,
};

function rowsOf(text: string | Uint8Array, syntax = TABLE) {
  const row = new RowScanner(syntax);
  const bytes = Buffer.from(text as string);
  const rows: { cells: string[]; flags: string }[] = [];
  for (let at = 0; at < bytes.length; ) {
    at = row.scan(bytes, at, bytes.length);
    const flags = Object.entries({
      open: row.isOpen,
      malformed: row.isMalformed,
      long: row.isLong,
      last: !row.isTerminated,
    });
    rows.push({ cells: cellsOf(row), flags: flags.flatMap(([name, is]) => (is ? [name] : [])).join(' ') });
  }
  return rows;
}

function cellsOf(row: CellRow): string[] {
  return Array.from({ length: row.count }, (_, cell) => row.text(cell));
}

describe('cells of a table', () => {
  test.each<[what: string, text: string, rows: string[][], flags?: string[]]>([
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
    ['empty lines', '\n\r\n\r,\n', [[''], [''], [''], ['', '']]],
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
    expect(rowsOf(`a\n${text}\nb\n`).map(({ flags }) => flags.includes('long'))).toEqual([false, !isShort, false]);
  });

  test('a row has as many cells as it has delimiters', () => {
    const text = ','.repeat(1_000);
    expect(rowsOf(text, { ...TABLE, charsMax: 1_000 })[0]!.cells).toHaveLength(1_001);
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
  [' a ,"b" \r\nc\rd\n', [[' a ', '"b" '], ['c\rd']], [1, 1]],
  ['"a""b" ,"c,\r\n\nd"x"y,e\n', [['"a""b" ', '"c,\r\n\nd"x"y', 'e']], [3]],
  ['5" pipe,1\nb"\r', [['5" pipe', '1'], ['b"']], [1, 1]],
  ['\n\r\n,', [[''], [''], ['', '']], [1, 1, 1]],
])('raw cells of %j keep their bytes', (text, cells, lines) => {
  const row = new RowScanner(RAW);
  const bytes = Buffer.from(text);
  const read: string[][] = [];
  const counts: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    at = row.scan(bytes, at, bytes.length);
    read.push(cellsOf(row));
    counts.push(row.lines);
  }
  expect([read, counts]).toEqual([cells, lines]);
});

test('a row of texts is trimmed, and a missing cell is empty', () => {
  const row = new CellRow();
  row.setTexts([' 1.5\n', 'é\u2009', '', ' ']);
  expect([cellsOf(row), row.decimal(0), row.text(4), row.text(-1), row.decimal(9)]).toEqual([
    ['1.5', 'é', '', ''],
    1.5,
    '',
    '',
    Number.NaN,
  ]);
  expect([row.isBlank(), row.isBlank(2), row.isWhole(5), row.isWhole(4), row.isWhole(2), row.isWhole(1)]).toEqual([
    ...[false, true, false, true, true, false],
  ]);
});
