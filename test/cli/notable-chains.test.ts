import { expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../../src/market/calendar.ts';
import { blackScholesPrice } from '../analytics/plain.ts';
import { PROGRAM, run } from '../support/process.ts';

/** What `zomma gex` and `zomma ingest` say about chains that are notable. */
const folder = mkdtempSync(join(tmpdir(), 'zomma-gex-'));

/** Writes a chain with a flat volatility of 25 % and returns its path. */
function chainFile(name: string, expiries: readonly string[], asOf: number): string {
  const rows = expiries.flatMap((expiry) =>
    Array.from({ length: 21 }, (_, i) => 90 + i).flatMap((strike) =>
      ([1, -1] as const).map((callPut) => {
        const tte = (Date.parse(`${expiry}T20:00:00Z`) - asOf) / (365.25 * DAY_MS);
        const price = blackScholesPrice({ spot: 100, tte, iv: 0.25, rate: 0.04, dividend: 0, callPut, strike });
        const quote = `${Math.max(0, price - 0.01).toFixed(4)},${(price + 0.01).toFixed(4)}`;
        return `TEST,${new Date(asOf).toISOString()},100,${expiry},${callPut === 1 ? 'C' : 'P'},${strike},${quote},${strike}`;
      }),
    ),
  );
  writeFileSync(
    join(folder, name),
    `underlying,as_of,spot,expiry,put_call,strike,bid,ask,open_interest\n${rows.join('\n')}\n`,
  );
  return join(folder, name);
}

const AS_OF = Date.parse('2026-08-21T20:00:00Z');
const one = chainFile('one.csv', ['2026-08-21', '2026-09-18'], AS_OF);
const two = chainFile('two.csv', ['2026-09-18', '2026-10-16'], AS_OF);
const later = Date.now() + 40 * 60_000;
const inMonths = new Date(later + 60 * DAY_MS).toISOString().slice(0, 10);
const ahead = chainFile('ahead.csv', [inMonths, new Date(later + 90 * DAY_MS).toISOString().slice(0, 10)], later);
const soon = chainFile('soon.csv', [inMonths, '2030-01-18'], Date.now() + 10 * 60_000);
const ONE_EXPIRY = 'one expiry only: 2026-09-18; levels are of this expiry alone';
const AHEAD = `the quotes are dated ${new Date(later).toISOString()}, which is ahead of the clock`;

test.each<[string, string, number, string, boolean]>([
  ['gex', one, 0, ONE_EXPIRY, true],
  ['gex', two, 0, 'one expiry only', false],
  ['ingest', one, 0, `TEST: ${ONE_EXPIRY}`, true],
  ['ingest', two, 0, 'one expiry only', false],
  ['gex', ahead, 1, AHEAD, true],
  ['surface', ahead, 1, AHEAD, true],
  ['ingest', ahead, 0, `rejected: TEST: ${AHEAD}`, true],
  ['gex', soon, 0, 'ahead of the clock', false],
])('zomma %s %s: code %d, "%s" %p', async (command, path, code, text, isSaid) => {
  const data = mkdtempSync(join(folder, 'data-'));
  const found = await run(PROGRAM, [command, path, '--data-dir', data]);
  expect(found.code).toBe(code);
  expect((found.stdout + found.stderr).includes(text)).toBe(isSaid);
});

test('zomma gex says of how many contracts the open interest is given', async () => {
  const text = await Bun.file(two).text();
  const blank = join(folder, 'blank.csv');
  writeFileSync(blank, text.replaceAll(/,9\d$/gm, ','));
  const { stdout } = await run(PROGRAM, ['gex', blank]);
  expect(stdout).toMatch(/contracts .* interpolated; open interest of 44 of 84; 40 blank\n/);
  expect((await run(PROGRAM, ['gex', two])).stdout).not.toContain('open interest of');
  writeFileSync(blank, text.replaceAll(/,9\d$/gm, ',n/a'));
  const refused = await run(PROGRAM, ['gex', blank]);
  expect(refused.stderr).toContain('the open interest of 40 of 84 contracts cannot be read');
});

const gex = (...args: string[]) => run(PROGRAM, ['gex', ...args]);

test('zomma gex says what is wrong with a time, a mapping and the expiries', async () => {
  const settled = chainFile('settled.csv', ['2026-08-21'], AS_OF);
  expect((await gex(settled)).stderr).toContain(
    'every contract of TEST had settled at the time of the quotes, 2026-08-21T20:00:00.000Z; its expiries are 2026-08-21 to 2026-08-21\n',
  );
  expect((await gex(two, '--map', join(folder, 'no.toml'))).stderr).toContain('no.toml does not exist\n');
  expect((await gex(two, '--as-of', '2026-08-21T10:00')).stderr).toContain(
    'zomma: --as-of has times without a time zone, such as "2026-08-21T10:00"',
  );
  expect((await gex(two, '--as-of', '2026-08-21T10:00-04:00')).stderr).toContain(
    'two.csv has no chain of 2026-08-21 up to 2026-08-21T14:00:00.000Z: its own times count, the first of which is 2026-08-21T20:00:00.000Z',
  );
  for (const asOf of ['2026-08-21', '2026-08-21T17:00-04:00']) expect((await gex(two, '--as-of', asOf)).code).toBe(0);
  const untimed = join(folder, 'untimed.csv');
  writeFileSync(untimed, (await Bun.file(two).text()).replaceAll(new Date(AS_OF).toISOString(), ''));
  const { stderr } = await gex(untimed, '--as-of', '2026-11-20');
  expect(stderr).toContain('had settled before 2026-11-20, the day of its quotes, which --as-of states. State the day');
  expect(stderr).not.toContain('State it: --as-of');
});

test('zomma gex names a side that it cannot read, and a second file alone', async () => {
  const sides = join(folder, 'sides.csv');
  writeFileSync(sides, 'Sym;When;Exp;CP;Strike;Bid;Ask;OI\nABC;2026-08-21;2026-09-18;K;100;1;2;3\n');
  writeFileSync(join(folder, 'sides.toml'), '[columns]\nunderlying = "Sym"\nas_of = "When"\n');
  expect((await gex(sides, '--map', join(folder, 'sides.toml'))).stderr).toContain(
    'row 1, column "cp": "K" is not a side: C, CALL, CALLS, CE, P, PUT, PUTS or PE',
  );
  const alone = join(folder, 'open_interest.csv');
  writeFileSync(alone, 'symbol,expiration,strike,right,open_interest\nABC,2026-09-18,100.000,CALL,3\n');
  expect((await gex(alone)).stderr).toContain(
    'the file is a second file, whose values belong to the contracts of a table',
  );
});

test('zomma map guess with --map prints the contracts, and not the draft again', async () => {
  const table = join(folder, 'table.csv');
  writeFileSync(
    table,
    'Sym;When;Exp;CP;K;Bid;Ask;OI\nABC;2026-08-21;2026-09-18;C;100;3;4;3\nABC;2026-08-21;2026-09-18;P;100;3;4;3\n',
  );
  const map = join(folder, 'table.toml');
  writeFileSync(map, '[columns]\nunderlying = "Sym"\nas_of = "When"\n');
  const refused = await run(PROGRAM, ['map', 'guess', table, '--map', map]);
  expect(refused.stdout).toMatch(/^# Zomma cannot read .*: read as table.toml, the table has no column for strike/);
  writeFileSync(map, '[columns]\nunderlying = "Sym"\nas_of = "When"\nstrike = "K"\n');
  const { stdout } = await run(PROGRAM, ['map', 'guess', table, '--map', map]);
  expect(stdout).toMatch(
    /^# The first contracts, as Zomma reads them:\n# {3}ABC at 2026-08-21T20:00:00.000Z, spot 100/,
  );
});
