import { describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { greeks, inMarketUnits } from '../../src/math/black-scholes.ts';
import { reference, worst } from '../math/reference.ts';
import { PROGRAM, ROOT, type Run, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** `zomma greeks`, `zomma iv` and `zomma merton`, run as processes. */
const BSM = join(ROOT, 'src/bench/reference/bsm.csv');
const MERTON = join(ROOT, 'src/bench/reference/merton.csv');
const GREEKS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;

const folder = folderForTests();

const zomma = (args: string[], stdin?: string): Promise<Run> => run(PROGRAM, args, stdin);

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** The cells of a CSV output by column. */
function tableOf(csv: string): { header: string[]; column(name: string): string[] } {
  const [header, ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return { header: header!, column: (name) => rows.map((row) => row[header!.indexOf(name)]!) };
}

describe('against 60-digit values: columns stay in place, and errors are within the rounding of the inputs', () => {
  const cases: [args: string[], path: string, expected: 'bsm.csv' | 'merton.csv', outputs: readonly string[]][] = [
    [['greeks', '--units', 'raw'], BSM, 'bsm.csv', GREEKS],
    [['merton'], MERTON, 'merton.csv', ['prob_above', 'call', 'put']],
  ];
  test.each(cases)('zomma %p of %s', async (args, path, expected, outputs) => {
    const { code, stdout, stderr } = await zomma([...args, path]);
    expect([code, stderr]).toEqual([0, '']);
    const { header, column } = tableOf(stdout);
    expect(header.join(',')).toBe(readFileSync(path, 'utf8').split('\n')[0]!);
    const known = reference(expected);
    for (const name of outputs) {
      const computed = Float64Array.from(column(name), Number);
      expect(computed).toHaveLength(known.count);
      const row = worst(computed, known.column(name), known.column(`condition_${name}`));
      expect(row.scaledError, JSON.stringify({ name, ...row })).toBeLessThanOrEqual(4);
    }
    const untouched = header.filter((name) => !outputs.includes(name));
    const given = tableOf(readFileSync(path, 'utf8'));
    for (const name of untouched) expect([name, column(name)]).toEqual([name, given.column(name)]);
  });
});

test('market units are the default, and the values equal the kernel’s bit for bit', async () => {
  const lines = readFileSync(BSM, 'utf8').split('\n').slice(0, 200).join('\n');
  const { column } = tableOf((await zomma(['greeks'], lines)).stdout);
  const numbers = (name: string) => Float64Array.from(column(name), Number);
  const market = inMarketUnits(
    greeks({
      count: 199,
      callPut: Float64Array.from(column('put_call'), (side) => (side === 'C' ? 1 : -1)),
      spot: numbers('spot'),
      strike: numbers('strike'),
      tte: numbers('tte'),
      iv: numbers('iv'),
      rate: numbers('rate'),
      dividend: numbers('dividend'),
    }),
  );
  // The output omits the sign of a zero.
  const written = (value: number) => value + 0;
  for (const name of GREEKS) expect([name, [...numbers(name)]]).toEqual([name, [...market[name]].map(written)]);
});

test('iv recovers the volatilities that priced the options, read through a pipe', async () => {
  const options = ['put_call,spot,strike,tte,iv', 'C,100,105,0.25,0.22', 'P,100,90,0.5,0.4', 'P,100,120,1,0.15'].join(
    '\n',
  );
  const priced = (await zomma(['greeks', '-'], options)).stdout;
  const { code, stdout } = await zomma(['iv'], priced);
  expect(code).toBe(0);
  expect(tableOf(stdout).header).toEqual(tableOf(priced).header);
  expect(tableOf(stdout).column('delta')).toEqual(tableOf(priced).column('delta'));
  tableOf(stdout)
    .column('iv')
    .forEach((iv, row) => {
      expect(Number(iv)).toBeCloseTo([0.22, 0.4, 0.15][row]!, 12);
    });
});

test('reads a spreadsheet export: byte order mark, CRLF, quotes, any encoding', async () => {
  const path = file(
    'sheet.csv',
    Buffer.from(
      '\xef\xbb\xbf"note",put_call,"spot",strike,tte,iv\r\n"caf\xe9, ""x""\r\ny",C,"100",105,0.25,0.22\r\n',
      'latin1',
    ),
  );
  const child = Bun.spawn([...PROGRAM, 'greeks', path], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const text = Buffer.from(await new Response(child.stdout).arrayBuffer()).toString('latin1');
  expect(await child.exited).toBe(0);
  expect(text).toStartWith(
    `"note",put_call,"spot",strike,tte,iv,${GREEKS.join(',')}\n"caf\xe9, ""x""\r\ny",C,"100",105,0.25,0.22,`,
  );
  expect(text.split('\n')).toHaveLength(4);
});

describe('rows that cannot be computed', () => {
  const HEADER = 'put_call,spot,strike,tte,iv,price';
  const cases: [command: string, row: string, message: string][] = [
    ['greeks', 'C,100,105,-0.25,0.2,3', 'tte must be a number, 0 or more'],
    ['greeks', 'C,100,0,0.25,0.2,3', 'strike must be a number above 0'],
    ['greeks', 'C,,105,0.25,0.2,3', 'spot must be a number above 0'],
    ['greeks', 'X,100,105,0.25,0.2,3', 'put_call must be C or P'],
    ['greeks', 'C,100,105,0.25,nan,3', 'iv must be a number, 0 or more'],
    ['greeks', 'C,100,105,0.25', 'has 4 cells, but the header has 6'],
    ['iv', 'C,100,105,0,0.2,3', 'tte must be a number above 0'],
    ['iv', 'C,100,105,0.25,0.2,-3', 'price must be a number, 0 or more'],
    [
      'iv',
      'C,100,105,0.25,0.2,101',
      'the price is at or above the largest possible value of the option, so no volatility gives it',
    ],
  ];
  test.each(cases)('zomma %s, %s: %s', async (command, row, message) => {
    const good = 'P,100,105,0.25,0.2,7';
    const alone = (await zomma([command], `${HEADER}\n${good}\n`)).stdout.split('\n');
    const { code, stdout, stderr } = await zomma([command], `${HEADER}\n${good}\n${row}\n${good}\n`);
    expect(code).toBe(1);
    expect(stderr).toBe(`zomma: 1 of 3 rows could not be computed; their outputs are empty\n  line 3: ${message}\n`);
    const lines = stdout.split('\n');
    expect([lines[0], lines[1], lines[3]]).toEqual([alone[0]!, alone[1]!, alone[1]!]);
    const outputs = command === 'iv' ? ['iv'] : GREEKS;
    for (const name of outputs) expect([name, tableOf(stdout).column(name)[1] ?? '']).toEqual([name, '']);
  });

  test('returns edge values: expired, zero volatility, price at or below intrinsic', async () => {
    const expired = await zomma(['greeks'], `${HEADER}\nC,100,90,0,0.2,0\nP,100,90,0.5,0,0\n`);
    expect(expired.code).toBe(0);
    expect(tableOf(expired.stdout).column('price').map(Number)).toEqual([10, 0]);
    const below = await zomma(['iv'], `${HEADER}\nC,100,90,0.25,x,10\nP,100,90,0.5,x,0\n`);
    expect(below.code).toBe(0);
    expect(tableOf(below.stdout).column('iv').map(Number)).toEqual([0, 0]);
  });

  test('rejects a row with more than 256 expected jumps', async () => {
    const csv = 'spot,strike,tte,iv,jump_intensity,jump_mean,jump_vol\n100,100,1,0.2,1e6,0,0.1\n';
    const { code, stderr } = await zomma(['merton'], csv);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        'line 2: jump_intensity * tte or jump_intensity * tte * e^(jump_mean + jump_vol^2 / 2) exceeds 256',
      ),
    ]);
  });
});

describe('fails with one line and a hint for', () => {
  test.each([
    ['a missing file', ['greeks', 'missing.csv'], undefined, /no file missing\.csv/],
    ['a folder', ['iv', '.'], undefined, /\. is a folder/],
    ['an empty input', ['iv'], '', /input is empty\n {2}.*put_call,price,spot/],
    ['blank lines', ['iv'], '\n\r\n', /input is empty/],
    [
      'a missing column',
      ['merton'],
      'spot,strike\n1,2\n',
      /no column tte, iv, jump_intensity.*\n {2}.*rate \(default 0\.04\)/,
    ],
    ['unknown units', ['greeks', '--units', 'metric'], '', /units/],
    ['an unterminated quote', ['greeks'], 'put_call,spot,strike,tte,iv\n"C,1,1,1,1\n', /line 2 has no end/],
  ])('%s', async (_what, args, stdin, message) => {
    const { code, stdout, stderr } = await zomma(args, stdin);
    expect(code).toBe(args.includes('metric') ? 64 : 1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stdout.split('\n').length).toBeLessThanOrEqual(2);
  });
});

test('a header without rows gives a table without rows', async () => {
  const { code, stdout, stderr } = await zomma(['iv'], 'put_call,price,spot,strike,tte');
  expect([code, stdout, stderr]).toEqual([0, 'put_call,price,spot,strike,tte,iv\n', '']);
});

test('more rows than one batch are output in order with unchanged values', async () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => `${i},${i % 2 ? 'C' : 'P'},100,${80 + (i % 40)},0.25,0.2`);
  const { code, stdout } = await zomma(['greeks'], `id,put_call,spot,strike,tte,iv\n${rows.join('\n')}`);
  expect(code).toBe(0);
  const { column } = tableOf(stdout);
  expect(column('id')).toEqual(rows.map((_, i) => String(i)));
  const deltas = column('delta');
  expect(deltas.filter((delta, i) => delta !== deltas[i % 40])).toEqual([]);
  expect(new Set(deltas).size).toBe(40);
});

test('exits quietly if the reader closes the pipe', async () => {
  const path = file('long.csv', `put_call,spot,strike,tte,iv\n${'C,100,105,0.25,0.22\n'.repeat(100_000)}`);
  const child = Bun.spawn([...PROGRAM, 'greeks', path], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, '']);
});
