import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machine } from '../../bench/machine.ts';
import { buildNative } from '../../bench/native.ts';
import { otherSections } from '../../bench/page.ts';
import { loadPeers } from '../../bench/peers.ts';
import { comparison, type Measured, measure, pageHead, rowsByTitle, TINY } from '../../bench/tables.ts';

const ROOT = join(import.meta.dir, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8');

/** Rows and tables that need programs or data that this machine may lack. */
const OPTIONAL = [
  ...[
    'C, AVX2',
    'C, libm',
    'QuantLib',
    "Let's Be Rational",
    'numpy',
    '@uqee',
    'greeks + black-scholes',
    'option-pricing',
  ],
  ...['@quantlib/ql', 'implied-volatility'],
];
const OPTIONAL_TABLES = /other engines|as recorded/;

test('the tables of the page have the rows of the code', async () => {
  const { lines } = measure(buildNative(false), await loadPeers(), TINY);
  const code = rowsByTitle(lines);
  const own = otherSections(PAGE).reduce((text, section) => text.replace(section, ''), PAGE);
  const page = rowsByTitle(own.split('\n'));
  const isOptional = (row: string) => OPTIONAL.some((name) => row.startsWith(name));
  const needed = (tables: Map<string, string[]>) =>
    [...tables]
      .filter(([title]) => !OPTIONAL_TABLES.test(title))
      .map(([title, rows]) => [title, rows.filter((row) => !isOptional(row))]);
  expect(needed(page), 'write the page anew: bun run bench --write').toEqual(needed(code));
  for (const [title, rows] of code) {
    if (rows.length > 0) expect([title, rows.filter((row) => !page.get(title)?.includes(row))]).toEqual([title, []]);
  }
});

test('the page names the commit, the day, the processor, the compiler and the versions', () => {
  const place = machine();
  const dated = pageHead({ ...place, commit: 'abc', date: '2026-01-02' }, ['a peer (not installed)']).join('\n');
  expect(dated).toContain('- commit abc, on 2026-01-02');
  expect(dated).toContain('- not available: a peer (not installed)');
  expect(PAGE).toMatch(/^- commit [0-9a-f]{12}( with changes)?, on \d{4}-\d\d-\d\d$/m);
  expect(PAGE).toMatch(/^- processor: .*\(.*; family \d+, model \d+, stepping \d+\), \d+ cores, .*$/m);
  expect(PAGE).toMatch(/^- Bun [\d.]+; C and C\+\+: .*-O3 -march=native.*$/m);
  expect(PAGE).toContain(`@uqee/black-scholes ${place.versions['@uqee/black-scholes']}`);
});

const table = (rows: Record<string, [low: number, median: number, high: number]>): Measured[] => [
  {
    title: 'Kernels',
    unit: 'option',
    rows: Object.entries(rows).map(([name, [low, ns, high]]) => ({
      ...{ name, ns, quartiles: [low, high] as const, ratio: 1, spread: [1, 1] as const },
    })),
  },
];

test('a comparison judges each row by the spreads, and names new and absent rows', () => {
  const before = table({ same: [9, 10, 11], slow: [9, 10, 11], fast: [9, 10, 11], old: [1, 2, 3] });
  const now = table({ same: [10, 11, 12], slow: [12, 13, 14], fast: [4, 5, 6], fresh: [1, 2, 3] });
  expect(comparison(now, before).slice(2)).toEqual([
    '| Kernels: same | 10.0 | 11.0 | 1.100, within the spread |',
    '| Kernels: slow | 10.0 | 13.0 | 1.300, slower |',
    '| Kernels: fast | 10.0 | 5.00 | 0.500, faster |',
    '| Kernels: fresh | | 2.00 | new |',
    '| Kernels: old | 2.00 | | gone |',
  ]);
});

test('prints results as JSON for the tables of a filter, and compares with them', async () => {
  const run = (...args: string[]) => {
    const { stdout, stderr } = Bun.spawnSync([process.execPath, 'bench/run.ts', '--tiny', ...args], { cwd: ROOT });
    return { stdout: stdout.toString(), stderr: stderr.toString() };
  };
  const { stdout } = run('--json', '--filter', 'merton');
  const { machine: place, tables } = JSON.parse(stdout);
  expect(place).toMatchObject({ bun: Bun.version, commit: expect.any(String) });
  expect(tables).toHaveLength(1);
  expect(tables[0]).toMatchObject({ unit: 'option', rows: [{ name: 'Zomma (WASM)' }, { name: 'plain TypeScript' }] });
  const file = join(tmpdir(), `zomma-bench-${process.pid}.json`);
  await Bun.write(file, stdout);
  expect(run('--filter', 'merton', '--compare', file).stdout).toMatch(
    /^\| Merton's .*: Zomma \(WASM\) \| [\d.e+]+ \| [\d.e+]+ \| [\d.]+, /m,
  );
  await Bun.file(file).delete();
  expect(run('--write').stderr).toContain('--write writes the whole page');
}, 120_000);

test('a filter that no title has measures nothing', async () => {
  expect(measure(buildNative(false), await loadPeers(), TINY, 'no such').tables).toEqual([]);
});
