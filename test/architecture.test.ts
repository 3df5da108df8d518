import { expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(import.meta.dir, '../src');

/**
 * The floors of docs/architecture.md, the lowest first. A file may import from its own room and from lower floors only;
 * rooms on one floor do not know each other.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['errors.ts', 'events.ts', 'config.ts', 'clean-text.ts', 'json-shape.ts', 'steps.ts'],
  ['event-loop-watchdog.ts'],
  ['math', 'garbage.ts'],
  ['market', 'access', 'bench', 'log.ts'],
  ['analytics', 'feeds', 'store'],
  ['operations'],
  ['http', 'mcp', 'cli', 'client'],
  ['create-feeds.ts', 'stored-data.ts'],
  ['app.ts'],
  ['serve.ts', 'serve-stdio.ts'],
  ['local.ts'],
  ['main.ts'],
];

/** The same within the analytics, whose folders stand on each other; a file beside them may import from any. */
const ANALYTICS: readonly (readonly string[])[] = [['chain'], ['density', 'exposure'], ['flow']];

/** Only the composition root and what stands on it name the concrete feeds and the concrete store. */
const CONCRETE = ['feeds', 'store'];
const NAMES_CONCRETE = new Set([
  'create-feeds.ts',
  'stored-data.ts',
  'app.ts',
  'serve.ts',
  'serve-stdio.ts',
  'local.ts',
  'main.ts',
]);

test('every file of src stands on a floor', () => {
  const homeless = sourceFiles().filter((file) => floorOf(file) < 0);
  expect(homeless).toEqual([]);
});

test('imports point down, and rooms of one floor do not import each other', () => {
  expect(imports().filter(({ from, to }) => room(from) !== room(to) && floorOf(to) >= floorOf(from))).toEqual([]);
});

test('within the analytics too', () => {
  const folder = (file: string) => file.split('/')[1]!;
  const level = (file: string) => {
    const at = ANALYTICS.findIndex((folders) => folders.includes(folder(file)));
    return at < 0 ? ANALYTICS.length : at;
  };
  const within = imports().filter(({ from, to }) => room(from) === 'analytics' && room(to) === 'analytics');
  expect(within.length).toBeGreaterThan(50);
  expect(within.filter(({ from, to }) => folder(from) !== folder(to) && level(to) >= level(from))).toEqual([]);
});

test('the transports of MCP stand on its server, and do not know each other', () => {
  const within = imports().filter(({ from, to }) => room(from) === 'mcp' && room(to) === 'mcp');
  const transport = (file: string) => (file.split('/').length === 3 ? file.split('/')[1] : undefined);
  expect(within.filter(({ to }) => transport(to)).length).toBeGreaterThan(10);
  expect(within.filter(({ from, to }) => transport(to) && transport(from) !== transport(to))).toEqual([]);
});

test('only the composition root names feeds and store', () => {
  const strangers = imports().filter(
    ({ from, to }) => CONCRETE.includes(room(to)) && room(from) !== room(to) && !NAMES_CONCRETE.has(room(from)),
  );
  expect(strangers).toEqual([]);
});

test('no files import each other in a circle', () => {
  const edges = new Map<string, string[]>();
  for (const { from, to } of imports()) edges.set(from, [...(edges.get(from) ?? []), to]);
  const done = new Set<string>();
  const circle = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of edges.get(file) ?? []) {
      const found = circle(next, [...path, file]);
      if (found) return found;
    }
    done.add(file);
    return undefined;
  };
  expect([...edges.keys()].map((file) => circle(file, [])).filter(Boolean)).toEqual([]);
});

test.each([
  ['main.ts', ['commander']],
  ['stored-data.ts', []],
  ['serve.ts', ['@logtape/logtape', '@sinclair/typebox', 'elysia', 'hyparquet', 'papaparse', 'swagger-ui-dist']],
])('%s loads no packages at its start but %p', (file, packages) => {
  expect(packagesLoadedBy(file)).toEqual(packages);
});

/** Packages reached from a file through imports that are neither of types alone nor made when they are asked for. */
function packagesLoadedBy(start: string): string[] {
  const transpiler = new Bun.Transpiler({ loader: 'ts', trimUnusedImports: true });
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { kind, path } of transpiler.scanImports(readFileSync(file))) {
      if (kind !== 'import-statement' || /^(?:node|bun):/.test(path)) continue;
      if (!path.startsWith('.')) packages.add(path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
      else if (path.endsWith('.ts')) visit(resolve(dirname(file), path));
    }
  };
  visit(join(SRC, start));
  return [...packages].sort();
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports between files of src, type imports included: paths relative to src. */
function imports(): Import[] {
  return sourceFiles().flatMap((from) => {
    const text = readFileSync(join(SRC, from), 'utf8');
    return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
      .map(([, specifier]) => resolve(SRC, dirname(from), specifier!))
      .filter((target) => target.startsWith(`${SRC}/`))
      .map((target) => ({ from, to: relative(SRC, target) }));
  });
}

function sourceFiles(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && statSync(join(SRC, file)).isFile(),
  );
}

function room(file: string): string {
  return file.split('/')[0]!;
}

function floorOf(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.includes(room(file)));
}
