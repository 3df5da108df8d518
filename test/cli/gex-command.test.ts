import { beforeEach, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeChain } from '../support/chain-file.ts';
import { PROGRAM, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** `zomma gex` of files that are not as they should be. */
const folder = folderForTests();
const chain = join(folder, 'chain.csv');
beforeEach(() => writeChain(chain));

const zomma = (...args: string[]) => run(PROGRAM, args);

test('counts rejected rows with the first bad cell, and refuses a chain of which a third cannot be read', async () => {
  const file = join(folder, 'bad.csv');
  const lines = readFileSync(chain, 'utf8').split('\n');
  const writeBad = (isBad: (i: number) => boolean, more: readonly string[] = []) =>
    writeFileSync(
      file,
      [...lines.map((line, i) => (i > 0 && isBad(i) ? line.replace(/,([CP]),/, ',$1,x') : line)), ...more].join('\n'),
    );
  const note = 'row 3, column "strike": "x92.5" is not a strike: 500, 1,250.5';
  writeBad((i) => i === 3);
  expect((await zomma('gex', file)).stdout).toMatch(
    /\n {2}rejected {4}1 bad_contract\n(?: {2}note .*\n)? {2}note {8}row 3, column "strike": "x92\.5" is not a strike: 500, 1,250\.5\n$/,
  );
  expect(JSON.parse((await zomma('gex', file, '--json')).stdout)).toMatchObject({
    notes: [expect.stringContaining('one expiry only'), note],
  });
  writeFileSync(
    file,
    [
      ...lines.slice(0, -1),
      ...lines.slice(1).map((line) => line.replace('2026-08-21', '2026-08-24').replace(/,([CP]),/, ',$1,x')),
    ].join('\n'),
  );
  expect((await zomma('gex', file)).stdout).toContain('note        rejected: TEST: the chain has no usable rows');
  writeBad((i) => i >= 3 && i % 3 > 0);
  expect(await zomma('gex', file)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/TEST: 1\d of 18 rows cannot be read .*row 4, column "strike"/),
  });
});

test('prints no levels of a chain without volatilities, or with the open interest of one side', async () => {
  const file = join(folder, 'half.csv');
  const rows = Array.from(
    { length: 40 },
    (_, i) => `TEST,2026-08-21T20:00:00Z,100,2026-09-18,${i % 2 ? 'P' : 'C'},${90 + (i >> 1)},10`,
  );
  const write = (iv: string, puts: number) =>
    writeFileSync(
      file,
      [
        'underlying,as_of,spot,expiry,put_call,strike,open_interest,iv',
        ...rows.map((row, i) => `${i % 2 ? row.replace(/10$/, String(puts)) : row},${iv}`),
        '',
      ].join('\n'),
    );
  write('0.2', 10);
  expect((await zomma('gex', file)).code).toBe(0);
  write('', 10);
  expect(await zomma('gex', file)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining(
      'TEST has no volatility, so it has no walls and no flip: only 0 of 40 contracts have a usable bid and ask',
    ),
  });
  write('0.2', 0);
  expect(await zomma('gex', file)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('TEST has no open interest of puts'),
  });
  expect((await zomma('ingest', file, '--data-dir', join(folder, 'one-side'))).stdout).toContain(
    '\n  TEST: no open interest of puts: no levels\n',
  );
});
