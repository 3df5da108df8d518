import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { type CsvRecord, cellsOf, contentOf, RecordSplitter } from '../../../src/cli/csv/records.ts';

function split(...pieces: string[]): CsvRecord[] {
  const splitter = new RecordSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe('records and the lines that they begin on', () => {
  test.each<[what: string, text: string, records: [text: string, line: number][]]>([
    ['nothing', '', []],
    ['one, without a line break', 'a,b', [['a,b', 1]]],
    [
      'LF',
      'a\nb\n',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'CRLF',
      'a\r\nb\r\n',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'CRLF, the last one cut',
      'a\r\nb\r',
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'blank lines between',
      'a\n\n\r\nb',
      [
        ['a', 1],
        ['b', 4],
      ],
    ],
    [
      'a line break within quotes',
      '"x\ny",1\nb\n',
      [
        ['"x\ny",1', 1],
        ['b', 3],
      ],
    ],
    [
      'several, and a doubled quote',
      'a,"1\n""2""\n\n3"\nb',
      [
        ['a,"1\n""2""\n\n3"', 1],
        ['b', 5],
      ],
    ],
    [
      'a comma and a line break within quotes',
      '",\n",2\nb',
      [
        ['",\n",2', 1],
        ['b', 3],
      ],
    ],
    [
      'a quote amid a cell is no quote',
      '5" pipe,1\nb"\nc',
      [
        ['5" pipe,1', 1],
        ['b"', 2],
        ['c', 3],
      ],
    ],
    [
      'empty quotes',
      '"",""\nb',
      [
        ['"",""', 1],
        ['b', 2],
      ],
    ],
  ])('%s', (_what, text, records) => {
    expect(split(text).map((record) => [record.text, record.line])).toEqual(records as never);
  });

  test('are the same wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', ',', '"', '\n', '\r\n', '""', ',"'), { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        const whole = outcome(() => split(text));
        for (let at = 0; at <= text.length; at++)
          expect(outcome(() => split(text.slice(0, at), text.slice(at)))).toEqual(whole);
        expect(outcome(() => split(...text))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });
});

test('what a CSV writer quotes is read back', () => {
  const cell = fc.stringMatching(/^(?:[a-z",\n]{0,8}[a-z",])?$/);
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 }), (rows) => {
      const text = Papa.unparse(rows, { newline: '\n' });
      expect(split(text).map((record) => cellsOf(record.text).map(contentOf))).toEqual(
        rows.map((row) => row.map((each) => each.trim())),
      );
    }),
    { numRuns: 1000 },
  );
});

test.each<[record: string, cells: string[], contents: string[]]>([
  ['', [''], ['']],
  [',', ['', ''], ['', '']],
  [' 1 ,\t2', [' 1 ', '\t2'], ['1', '2']],
  ['"a,b",c', ['"a,b"', 'c'], ['a,b', 'c']],
  ['"a""b","" ', ['"a""b"', '"" '], ['a"b', '']],
  ['"1" ,"2"', ['"1" ', '"2"'], ['1', '2']],
  ['5" pipe,"x', ['5" pipe', '"x'], ['5" pipe', '"x']],
  ['"', ['"'], ['"']],
])('%j has the cells %j, which say %j', (record, cells, contents) => {
  expect(cellsOf(record)).toEqual(cells);
  expect(cells.map(contentOf)).toEqual(contents);
});

describe('refuses what has no end', () => {
  test('a quote that is open at the end', () => {
    expect(() => split('a\nb,"c\nd\n')).toThrow('line 2 has no end');
  });

  test('a row longer than any, without keeping it all', () => {
    const splitter = new RecordSplitter();
    splitter.push('a\n');
    const piece = 'x'.repeat(300_000);
    for (let times = 0; times < 3; times++) expect(splitter.push(piece)).toEqual([]);
    expect(() => splitter.push(piece)).toThrow('line 2 has no end');
  });
});

function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return (error as Error).message;
  }
}
