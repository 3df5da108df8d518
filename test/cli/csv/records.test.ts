import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import Papa from 'papaparse';
import { type CsvRecord, cellsOf, contentOf, RecordSplitter } from '../../../src/cli/csv/records.ts';

function split(...pieces: string[]): CsvRecord[] {
  const splitter = new RecordSplitter();
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()];
}

describe('records and their line numbers', () => {
  test.each<[what: string, text: string, records: string[], lines: number[]]>([
    ['an empty text', '', [], []],
    ['one record without a line break', 'a,b', ['a,b'], [1]],
    ['LF', 'a\nb\n', ['a', 'b'], [1, 2]],
    ['CRLF', 'a\r\nb\r\n', ['a', 'b'], [1, 2]],
    ['CRLF, the last line break incomplete', 'a\r\nb\r', ['a', 'b'], [1, 2]],
    ['blank lines between records', 'a\n\n\r\nb', ['a', 'b'], [1, 4]],
    ['a line break in quotes', '"x\ny",1\nb\n', ['"x\ny",1', 'b'], [1, 3]],
    ['several line breaks, and a doubled quote', 'a,"1\n""2""\n\n3"\nb', ['a,"1\n""2""\n\n3"', 'b'], [1, 5]],
    ['a comma and a line break in quotes', '",\n",2\nb', ['",\n",2', 'b'], [1, 3]],
    ['a quote in the middle of an unquoted cell is text', '5" pipe,1\nb"\nc', ['5" pipe,1', 'b"', 'c'], [1, 2, 3]],
    ['empty quotes', '"",""\nb', ['"",""', 'b'], [1, 2]],
  ])('%s', (_what, text, records, lines) => {
    expect(split(text)).toEqual(records.map((record, i) => ({ text: record, line: lines[i]! })));
  });

  test('records do not depend on where the input is split into pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', ',', '"', '\n', '\r\n', '""', ',"'), { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        const whole = outcome(() => split(text));
        for (let i = 0; i <= text.length; i++)
          expect(outcome(() => split(text.slice(0, i), text.slice(i)))).toEqual(whole);
        expect(outcome(() => split(...text))).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });
});

test('reads back what a CSV writer quotes', () => {
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
])('%j has the cells %j with the contents %j', (record, cells, contents) => {
  expect(cellsOf(record)).toEqual(cells);
  expect(cells.map(contentOf)).toEqual(contents);
});

describe('rejects an unterminated record', () => {
  test('a quote that is still open at the end', () => {
    expect(() => split('a\nb,"c\nd\n')).toThrow('line 2 has no end');
  });

  test('a row beyond the length limit, without buffering all of it', () => {
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
