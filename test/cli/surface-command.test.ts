import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blackScholesPrice } from '../analytics/plain.ts';
import { yearsTo } from '../analytics/small-chains.ts';
import { PROGRAM, type Run, run } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

const AS_OF = '2026-08-21T16:00:00-04:00';
const EXPIRIES = ['2026-08-28', '2026-09-18', '2026-10-16'];

const folder = folderForTests();
let chain: string;
beforeAll(() => {
  chain = join(folder, 'chain.csv');
  writeFileSync(chain, `${chainRows(EXPIRIES).join('\n')}\n`);
});

/** Quotes of a flat volatility of 25 %, and of an event between two of its expiries. */
function chainRows(expiries: readonly string[], event = { after: '9999-12-31', variance: 0 }): string[] {
  const rows = ['underlying,as_of,spot,expiry,put_call,strike,bid,ask,open_interest'];
  for (const expiry of expiries) {
    const tte = yearsTo('TEST', expiry, Date.parse(AS_OF));
    const iv = Math.sqrt(0.25 ** 2 + (expiry > event.after ? event.variance / tte : 0));
    for (let strike = 80; strike <= 120; strike++) {
      for (const [side, callPut] of [
        ['C', 1],
        ['P', -1],
      ] as const) {
        const price = blackScholesPrice({ callPut, spot: 100, strike, tte, iv, rate: 0.04, dividend: 0 });
        rows.push(`TEST,${AS_OF},100,${expiry},${side},${strike},${Math.max(0, price - 0.01)},${price + 0.01},100`);
      }
    }
  }
  return rows;
}

const surface = (...args: string[]): Promise<Run> =>
  run(PROGRAM, ['surface', chain, ...args, '--data-dir', join(folder, 'none')]);

describe('surface FILE', () => {
  test('prints a table of settlements and maturities', async () => {
    const { code, stdout } = await surface();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^TEST {2}100 {2}files:\S+\n {2}fitted to quotes; clock: \w+/);
    for (const name of [...EXPIRIES, '7 days', '30 days']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} .* 25\\.[0-9] %`, 'm'));
    }
  });

  test('--json prints the answer of the REST route', async () => {
    const answer = JSON.parse((await surface('--json')).stdout);
    expect(answer).toMatchObject({ ticker: 'TEST', fitted_to: 'quotes', expiries: { expiry: EXPIRIES }, grid: null });
  });

  test('--csv prints a row for each settlement', async () => {
    const [head, ...rows] = (await surface('--csv')).stdout.trimEnd().split('\n');
    expect(head).toStartWith('expiry,series,settles_at,quotes,');
    expect(rows.map((row) => row.split(',')[0])).toEqual(EXPIRIES);
    expect(rows.every((row) => row.split(',').length === head!.split(',').length)).toBe(true);
  });

  test('--plot draws the smile and the term structure', async () => {
    const { stdout } = await surface('--plot');
    expect(stdout).toContain('TEST  volatility by strike, 2026-09-18, percent a year');
    expect(stdout).toContain('TEST  volatility at the money by settlement, percent a year');
  });

  test('an event is printed, and the plot has a line without it', async () => {
    const listed = ['08-28', '09-04', '09-11', '09-18', '09-25', '10-02', '10-16', '11-20', '12-18'];
    const file = join(folder, 'event.csv');
    const rows = chainRows(
      listed.map((day) => `2026-${day}`),
      { after: '2026-09-18', variance: 0.05 ** 2 },
    );
    writeFileSync(file, `${rows.join('\n')}\n`);
    const { stdout } = await run(PROGRAM, ['surface', file, '--plot', '--data-dir', join(folder, 'none')]);
    expect(stdout).toMatch(/^ {2}event: implied move [45]\.\d %, band 0\.\d %, between 2026-09-18 and 2026-09-25$/m);
    expect(stdout).toMatch(/no events \d+\.\d %/);
    expect((await surface('--plot')).stdout).not.toMatch(/event:|no events \d/);
  });

  test.each([
    [['--json', '--csv'], '--json and --csv exclude each other'],
    [['--ticker', 'NONE'], 'has no chain of NONE'],
  ])('%j is an error', async (args, message) => {
    const { code, stderr } = await surface(...args);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
