import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Machine, machine } from './machine.ts';
import { buildNative } from './native.ts';
import { otherSections } from './page.ts';
import { loadPeers } from './peers.ts';
import { comparison, FULL, type Measured, measure, pageHead, TINY } from './tables.ts';

/**
 * `bun bench/run.ts [NAME] [--tiny] [--write] [--json] [--filter TEXT] [--compare BASE.json]` runs the benchmark NAME of `BENCHMARKS`, with
 * the other arguments. Without a name, measures the kernels, the stages of an analysis, and the ingest of a chain. The runners of a table
 * take turns in one process. `--filter` measures only tables with the text in their title. `--json` prints the figures, and `--compare`
 * compares with figures that were printed so. `--write` writes docs/benchmarks.md, and copies the sections of the other benchmarks from the
 * old text of the page. `--tiny` runs one short round, whose times mean nothing, and exits with 1 if the answers of a runner differ too much
 * from Zomma's.
 */
const BENCHMARKS: Readonly<Record<string, readonly string[]>> = {
  repeat: ['repeat.ts'],
  cold: ['cold.ts'],
  'chain-file': ['text.ts', 'chain'],
  'greeks-csv': ['text.ts', 'greeks'],
  text: ['text.ts'],
  'greeks-json': ['http.ts', '--only', 'JSON'],
  http: ['http.ts'],
  tape: ['tape-ingest.ts'],
  'packed-tape': ['packed-tape.ts'],
  market: ['market.ts'],
  'full-market': ['market.ts', 'market', '--full'],
  snapshot: ['market.ts', 'snapshot'],
  screen: ['market.ts', 'screen'],
  'fan-out': ['fan-out.ts'],
  service: ['service.ts'],
  stalls: ['stalls.ts'],
  start: ['start.ts'],
  mcp: ['mcp.ts'],
};

const name = process.argv[2];
if (name && !name.startsWith('--')) {
  const [file, ...args] = BENCHMARKS[name] ?? [];
  if (!file) throw new Error(`no benchmark is named "${name}". The names are: ${Object.keys(BENCHMARKS).join(', ')}`);
  const command = [process.execPath, join(import.meta.dir, file), ...args, ...process.argv.slice(3)];
  process.exit(Bun.spawnSync(command, { stdio: ['inherit', 'inherit', 'inherit'] }).exitCode);
}
const { values: options } = parseArgs({
  options: {
    tiny: { type: 'boolean' },
    write: { type: 'boolean' },
    json: { type: 'boolean' },
    filter: { type: 'string' },
    compare: { type: 'string' },
  },
});
if (options.write && (options.filter !== undefined || options.tiny || options.json)) {
  throw new Error('--write writes the whole page, so it takes neither --filter nor --tiny nor --json');
}
const base = options.compare === undefined ? undefined : ((await Bun.file(options.compare).json()) as Results);
const place = machine();
const { lines, tables, missing, invalid } = measure(
  buildNative(),
  await loadPeers(),
  options.tiny ? TINY : FULL,
  options.filter,
);
if (tables.length === 0) throw new Error(`no table has "${options.filter}" in its title`);
if (options.json) console.log(JSON.stringify({ machine: place, missing, tables } satisfies Results));
else if (base) {
  console.log(`before: ${base.machine.commit}, ${base.machine.date}, ${base.machine.processor}`);
  console.log(`now: ${place.commit}, ${place.date}, ${place.processor}\n`);
  console.log(comparison(tables, base.tables).join('\n'));
} else {
  const trial = options.tiny ? ['This is a trial of one short round, whose times mean nothing.', ''] : [];
  const page = [...trial, ...pageHead(place, missing), ...lines];
  console.log(page.join('\n'));
  if (options.write) {
    const file = Bun.file(join(import.meta.dir, '../docs/benchmarks.md'));
    for (const section of otherSections(await file.text())) page.push('', section);
    await Bun.write(file, `${page.join('\n')}\n`);
  }
}
if (options.tiny && invalid > 0) process.exitCode = 1;

/** What `--json` prints and `--compare` reads. */
interface Results {
  readonly machine: Machine;
  readonly missing: readonly string[];
  readonly tables: readonly Measured[];
}
