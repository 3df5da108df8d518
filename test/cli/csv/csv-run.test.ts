import { describe, expect, test } from 'bun:test';
import { CsvRows } from '../../../src/cli/csv/csv-rows.ts';
import { CsvRun } from '../../../src/cli/csv/csv-run.ts';
import { anyNumber, notNegative, orElse, positive, type RowKernel, side } from '../../../src/cli/csv/row-kernel.ts';

/** Computes a + b and a / b. The second has no result if b is 0. */
const kernel: RowKernel<'a' | 'b'> = {
  inputs: { a: anyNumber, b: orElse(anyNumber, 2) },
  outputs: ['sum', 'ratio'],
  unanswered: 'b is nothing',
  compute: (_count, { a, b }) => [a.map((each, row) => each + b[row]!), a.map((each, row) => each / b[row]!)],
};

const THREE = '3';
const HALF = '0.5';

function run(...rows: string[]) {
  const csv = new CsvRows();
  let made: CsvRun | undefined;
  csv.push(Buffer.from(`${rows.join('\n')}\n`), (block, line) => {
    const isFirst = made === undefined;
    made ??= new CsvRun(kernel, block);
    made.add(block, isFirst ? 1 : 0, line);
  });
  const text = made!.text.toString();
  return { lines: text.trimEnd().split('\n'), messages: made!.messages, badRows: made!.badRows };
}

describe('columns', () => {
  test.each<[what: string, given: [header: string, row: string], expected: [header: string, row: string]]>([
    ['outputs follow the last column', ['a,b', '1,2'], ['a,b,sum,ratio', `1,2,${THREE},${HALF}`]],
    ['inputs may come in any order', ['b,a', '2,1'], ['b,a,sum,ratio', `2,1,${THREE},${HALF}`]],
    [
      'other columns pass through',
      ['id,a,note,b', '7,1,"x, y",2'],
      ['id,a,note,b,sum,ratio', `7,1,"x, y",2,${THREE},${HALF}`],
    ],
    ['cells pass through unchanged', ['a, "b" ,', ' 1,"2", z'], ['a, "b" ,,sum,ratio', ` 1,"2", z,${THREE},${HALF}`]],
    [
      'an input column named like an output is replaced',
      ['ratio,a,b', 'x,1,2'],
      ['ratio,a,b,sum', `${HALF},1,2,${THREE}`],
    ],
    ['all output columns are replaced', ['sum,a,ratio,b', ',1,"q",2'], ['sum,a,ratio,b', `${THREE},1,${HALF},2`]],
    ['a missing optional column takes its default', ['a', '1'], ['a,sum,ratio', `1,${THREE},${HALF}`]],
    ['an empty optional cell takes its default', ['a,b', '1,""'], ['a,b,sum,ratio', `1,"",${THREE},${HALF}`]],
  ])('%s', (_what, given, expected) => {
    expect(run(...given)).toEqual({ lines: expected, messages: [], badRows: 0 });
  });

  test.each([
    ['a missing column', 'b,c', /no column a/],
    ['another separator', 'a;b', /no column a/],
    ['an input named twice', 'a,b,"a"', /column a is named twice/],
    ['an output named twice', 'a,sum,sum', /column sum is named twice/],
  ])('rejects %s', (_what, header, message) => {
    expect(() => run(header)).toThrow(message);
  });

  test('columns that are neither input nor output may share a name', () => {
    expect(run('x,x,a', '1,2,1').lines[1]).toStartWith('1,2,1,');
  });
});

describe('a bad row passes its cells through and leaves the outputs empty', () => {
  test.each([
    ['text instead of a number', 'x,2,0,9', 'x,2,,9,', 'a must be a number'],
    ['an empty required cell', ',2,0,9', ',2,,9,', 'a must be a number'],
    ['an optional cell that is not a number', '1,-,0,9', '1,-,,9,', 'b must be a number'],
    ['too few cells', '1,2,0', '1,2,,,', 'has 3 cells, but the header has 4'],
    ['too many cells', '1,2,0,9,9,9', '1,2,,9,', 'has 6 cells, but the header has 4'],
    ['no result', '1,0,0,9', '1,0,,9,', 'b is nothing'],
  ])('%s', (_what, row, line, message) => {
    const good = '1,2,0,9';
    const { lines, ...rest } = run('a,b,sum,c', good, row, good);
    const computed = `1,2,${THREE},9,${HALF}`;
    expect(lines).toEqual(['a,b,sum,c,ratio', computed, line, computed]);
    expect(rest).toEqual({ messages: [`line 3: ${message}`], badRows: 1 });
  });

  test('reports the first five bad rows and counts all of them', () => {
    const { messages, badRows } = run('a', ...Array(7).fill('?'), '1');
    expect(badRows).toBe(7);
    expect(messages).toEqual([2, 3, 4, 5, 6].map((line) => `line ${line}: a must be a number`));
  });
});

describe('cells', () => {
  const no = Number.NaN;
  test.each([
    ['0', [0, no, 0]],
    ['-0', [-0, no, -0]],
    ['1', [1, 1, 1]],
    ['+1.', [1, 1, 1]],
    ['.5', [0.5, 0.5, 0.5]],
    ['-1e-3', [-0.001, no, no]],
    ['1E5', [1e5, 1e5, 1e5]],
    ['0.1000000000000000055511151231257827', [0.1, 0.1, 0.1]],
    ['5e-324', [5e-324, no, 5e-324]],
    ['2.2250738585072014e-308', [2 ** -1022, 2 ** -1022, 2 ** -1022]],
    ['1.7976931348623157e308', [Number.MAX_VALUE, Number.MAX_VALUE, Number.MAX_VALUE]],
    ...['1e999', '-1e999', 'Infinity', 'NaN', '0x10', '0b1', '1_000', '1,000', '1 0', '--1', '1e', 'e1', '.', '٣'].map(
      (text): [string, number[]] => [text, [no, no, no]],
    ),
  ])('parses %s as any number, as a positive number, and as a number not below 0', (text, expected) => {
    expect([anyNumber, positive, notNegative].map((cell) => cell.parse(text))).toEqual(expected);
  });

  test.each([
    ['C', 1],
    ['P', -1],
    ['c', 1],
    ['put', -1],
    ['Call', 1],
    ['1', Number.NaN],
    ['X', Number.NaN],
  ])('parses the side %s as %d', (text, sign) => {
    expect(side.parse(text)).toBe(sign);
  });

  test('writes every output with the fewest digits that are read back as the same number', () => {
    const values = Array.from({ length: 500 }, (_, i) => Math.exp(1.37 * (i - 250)) / 3);
    const { lines } = run('a,b', ...values.map((value) => `${value},1`));
    expect(lines.slice(1).map((line) => line.split(',').at(-1)!)).toEqual(values.map(String));
  });
});
