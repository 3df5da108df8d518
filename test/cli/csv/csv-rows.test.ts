import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CsvRows } from '../../../src/cli/csv/csv-rows.ts';
import type { RowScanner } from '../../../src/math/delimited-rows.ts';
import { CELLS_MAX } from '../../../src/math/text-area.ts';

function split(...pieces: string[]): { cells: string[]; line: number }[] {
  const csv = new CsvRows();
  const rows: { cells: string[]; line: number }[] = [];
  const onBlock = (block: RowScanner, line: number) => {
    for (let i = 0; i < block.rows; i++) {
      block.select(i);
      const cells = Array.from({ length: block.count }, (_, cell) => block.text(cell));
      rows.push({ cells, line: line + block.line });
    }
  };
  for (const piece of pieces) csv.push(Buffer.from(piece), onBlock);
  csv.end(onBlock);
  return rows;
}

describe('rows and their line numbers', () => {
  test.each<[what: string, text: string, rows: string[][], lines: number[]]>([
    ['an empty text', '', [], []],
    ['one row without a line break', 'a,b', [['a', 'b']], [1]],
    ['LF', 'a\nb\n', [['a'], ['b']], [1, 2]],
    ['CRLF', 'a\r\nb\r\n', [['a'], ['b']], [1, 2]],
    ['CRLF, the last line break incomplete', 'a\r\nb\r', [['a'], ['b']], [1, 2]],
    ['blank lines between rows', 'a\n\n\r\nb', [['a'], ['b']], [1, 4]],
    ['a line break in quotes', '"x\ny",1\nb\n', [['"x\ny"', '1'], ['b']], [1, 3]],
    ['several line breaks, and a doubled quote', 'a,"1\n""2""\n\n3"\nb', [['a', '"1\n""2""\n\n3"'], ['b']], [1, 5]],
    ['a comma and a line break in quotes', '",\n",2\nb', [['",\n"', '2'], ['b']], [1, 3]],
    ['a quote in a cell without quotes is text', '5" pipe,1\nb"\nc', [['5" pipe', '1'], ['b"'], ['c']], [1, 2, 3]],
    ['text after quotes', '"1" ,"2"3\n', [['"1" ', '"2"3']], [1]],
    ['empty quotes', '"",""\nb', [['""', '""'], ['b']], [1, 2]],
    ['bytes that are not ASCII', 'é,\u00a0\n', [['é', '\u00a0']], [1]],
  ])('%s', (_what, text, rows, lines) => {
    expect(split(text)).toEqual(rows.map((cells, i) => ({ cells, line: lines[i]! })));
  });

  test('rows do not depend on where the input is split into pieces', () => {
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

describe('rejects a row without an end', () => {
  test('a quote that is still open at the end', () => {
    expect(() => split('a\nb,"c\nd\n')).toThrow('line 2 has no end');
  });

  test('a row beyond the length limit, without buffering all of it', () => {
    const csv = new CsvRows();
    const lines: number[] = [];
    const push = (piece: string) => csv.push(Buffer.from(piece), ({ line }, first) => lines.push(line + first));
    push('a\n');
    for (let times = 0; times < 3; times++) push('x'.repeat(300_000));
    expect(() => push('x'.repeat(300_000))).toThrow('line 2 has no end');
    expect(lines).toEqual([1]);
  });

  test('a row with too many cells', () => {
    expect(() => split(`a\n${','.repeat(CELLS_MAX)}\n`)).toThrow('line 2 has more than 200000 cells');
    expect(() => split(','.repeat(CELLS_MAX))).toThrow('line 1 has more than 200000 cells');
  });
});

test('rows whose cells fill more than one block', () => {
  const row = `${'1,'.repeat(CELLS_MAX / 4 - 1)}2`;
  const widths: number[] = [];
  const csv = new CsvRows();
  const onBlock = (rows: RowScanner) => {
    for (let i = 0; i < rows.rows; i++) widths.push(rows.width(i));
  };
  csv.push(Buffer.from(`${row}\n`.repeat(9)), onBlock);
  csv.end(onBlock);
  expect(widths).toEqual(Array(9).fill(CELLS_MAX / 4));
});

function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return (error as Error).message;
  }
}
