import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const SRC = resolve(import.meta.dir, '../src');
const WEB = resolve(import.meta.dir, '../web');

/**
 * The layers of docs/architecture.md, from the lowest to the highest. A file may import from its own module and from lower layers only.
 * Modules of one layer do not import each other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['core'],
  ['settings', 'math', 'picture'],
  ['market', 'access', 'bench'],
  ['analytics', 'feeds', 'store', 'sse'],
  ['cluster'],
  ['operations'],
  ['http', 'mcp', 'client', 'ops'],
  ['server'],
  ['cli'],
  ['main.ts'],
];

/** The layers within modules that have folders. A file directly in such a module may import from any of its folders. */
const FOLDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  analytics: [['chain'], ['surface'], ['exposure'], ['flow']],
  operations: [['engine'], ['reading'], ['flow', 'options'], ['gex'], ['surface'], ['history']],
};

/** The layers of the page in `web`, by the same rules. A file directly in `web` is a module of its own. */
const WEB_LAYERS: readonly (readonly string[])[] = [
  ['page-format.ts', 'operations.ts'],
  ['time', 'data'],
  ['state'],
  ['chart', 'grid', 'markdown'],
  ['panel'],
  ['explain'],
  ['frame', 'view'],
  ['main.tsx'],
];

/** Only the composition of the server, `main.ts`, and the store of several servers import the concrete feeds and the concrete store. */
const CONCRETE = ['feeds', 'store'];
const MAY_IMPORT_CONCRETE = new Set(['server', 'cluster', 'main.ts']);

describe.each([
  ['src', SRC, LAYERS],
  ['web', WEB, WEB_LAYERS],
])('the layers of %s', (_, folder, layers) => {
  const layerOf = (file: string) => layers.findIndex((modules) => modules.includes(moduleOf(file)));

  test('every file belongs to one', () => {
    expect(sourceFiles(folder).filter((file) => layerOf(file) < 0)).toEqual([]);
  });

  test('imports point to lower layers, and modules of one layer do not import each other', () => {
    const between = imports(folder).filter(({ from, to }) => moduleOf(from) !== moduleOf(to));
    expect(between.length).toBeGreaterThan(100);
    expect(between.filter(({ from, to }) => layerOf(to) >= layerOf(from))).toEqual([]);
  });

  test('imports have no cycles', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to } of imports(folder)) edges.set(from, [...(edges.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycle = (file: string, path: readonly string[]): readonly string[] | undefined => {
      if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
      if (done.has(file)) return undefined;
      for (const next of edges.get(file) ?? []) {
        const found = cycle(next, [...path, file]);
        if (found) return found;
      }
      done.add(file);
      return undefined;
    };
    expect([...edges.keys()].map((file) => cycle(file, [])).filter(Boolean)).toEqual([]);
  });
});

test('the views of the page do not import each other', () => {
  const within = imports(WEB).filter(({ from, to }) => moduleOf(from) === 'view' && moduleOf(to) === 'view');
  expect(within.length).toBeGreaterThan(10);
  expect(within.filter(({ from, to }) => folderOf(from) !== '' && folderOf(from) !== folderOf(to))).toEqual([]);
});

test.each(Object.entries(FOLDERS))('imports between the folders of %s point to lower layers', (module, layers) => {
  const level = (file: string) => {
    const index = layers.findIndex((folders) => folders.includes(folderOf(file)));
    return index < 0 ? layers.length : index;
  };
  const within = imports().filter(({ from, to }) => moduleOf(from) === module && moduleOf(to) === module);
  expect(within.length).toBeGreaterThan(50);
  expect(within.filter(({ from, to }) => folderOf(from) !== folderOf(to) && level(to) >= level(from))).toEqual([]);
  const folders = sourceFiles().filter((file) => moduleOf(file) === module && file.split('/').length > 2);
  expect([...new Set(folders.map(folderOf))].toSorted()).toEqual(layers.flat().toSorted());
});

test('the page imports only types of the client from the server, and the server nothing of the page', () => {
  const fromServer = importsOf(WEB).filter(({ to }) => to.startsWith(`${SRC}/`));
  expect(fromServer.length).toBeGreaterThan(0);
  expect(fromServer.filter(({ to, typeOnly }) => !typeOnly || !relative(SRC, to).startsWith('client/'))).toEqual([]);
  expect(importsOf(SRC).filter(({ to }) => to.startsWith(`${WEB}/`))).toEqual([]);
});

test('the MCP transports import the MCP server and do not import each other', () => {
  const within = imports().filter(({ from, to }) => moduleOf(from) === 'mcp' && moduleOf(to) === 'mcp');
  const transport = (file: string) => (file.split('/').length === 3 ? file.split('/')[1] : undefined);
  expect(within.filter(({ to }) => transport(to)).length).toBeGreaterThan(10);
  expect(within.filter(({ from, to }) => transport(to) && transport(from) !== transport(to))).toEqual([]);
});

test('only the composition root and the layers above it import feeds and store', () => {
  const violations = imports().filter(
    ({ from, to }) =>
      CONCRETE.includes(moduleOf(to)) && moduleOf(from) !== moduleOf(to) && !MAY_IMPORT_CONCRETE.has(moduleOf(from)),
  );
  expect(violations).toEqual([]);
});

test.each([
  ['main.ts', ['commander']],
  ['server/stored-data.ts', []],
  ['server/serve.ts', ['@logtape/logtape', '@sinclair/typebox', 'elysia', 'hyparquet', 'swagger-ui-dist']],
])('%s loads no packages at startup except %p', (file, packages) => {
  expect(packagesLoadedBy(file)).toEqual(packages);
});

test('a server alone, and commands on its data, load no code of a cluster', () => {
  const starts = ['serve', 'serve-stdio', 'stored-data', 'maintain-data', 'transfer-members', 'backups', 'checks'];
  const loaded = starts.flatMap((name) => [...filesLoadedBy(`server/${name}.ts`)]);
  const ofCommands = sourceFiles().filter((file) => moduleOf(file) === 'cli');
  loaded.push(...ofCommands.flatMap((file) => [...filesLoadedBy(file)]));
  expect(loaded.length).toBeGreaterThan(100);
  expect(loaded.filter((file) => file.startsWith('cluster/'))).toEqual([]);
});

/** Returns the packages that a file loads at startup through its imports. Type imports and dynamic imports do not count. */
function packagesLoadedBy(start: string): string[] {
  const packages = new Set<string>();
  filesLoadedBy(start, packages);
  return [...packages].sort();
}

/** Returns the files of the project that a file loads at startup. Adds the packages to `packages`. */
function filesLoadedBy(start: string, packages = new Set<string>()): Set<string> {
  const transpiler = new Bun.Transpiler({ loader: 'ts', trimUnusedImports: true });
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(relative(SRC, file))) return;
    seen.add(relative(SRC, file));
    for (const { kind, path } of transpiler.scanImports(readFileSync(file))) {
      if (kind !== 'import-statement' || /^(?:node|bun):/.test(path)) continue;
      if (!path.startsWith('.')) packages.add(path.split('/', path.startsWith('@') ? 2 : 1).join('/'));
      else if (path.endsWith('.ts')) visit(resolve(dirname(file), path));
    }
  };
  visit(join(SRC, start));
  return seen;
}

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Returns the imports between files of a folder, type imports included, as paths relative to the folder. */
function imports(folder = SRC): Import[] {
  return importsOf(folder)
    .filter(({ to }) => to.startsWith(`${folder}/`))
    .map(({ from, to }) => ({ from: relative(folder, from), to: relative(folder, to) }));
}

/** Returns the relative imports of the files of a folder as absolute paths, and whether each imports types alone. */
function importsOf(folder: string): (Import & { readonly typeOnly: boolean })[] {
  return sourceFiles(folder).flatMap((file) => {
    const from = join(folder, file);
    const statements = readFileSync(from, 'utf8').matchAll(
      /(?:\b(?:import|export)\s+(type\b)?[^;'"`]*?\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g,
    );
    return [...statements].map(([, type, specifier]) => ({
      from,
      to: resolve(dirname(from), specifier!),
      typeOnly: type !== undefined,
    }));
  });
}

function sourceFiles(folder = SRC): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /^(?!node_modules).*\.tsx?$/.test(file) && !file.endsWith('.d.ts') && statSync(join(folder, file)).isFile(),
  );
}

function moduleOf(file: string): string {
  return file.split('/')[0]!;
}

/** Returns the folder of a file within its module, or an empty text if the file stands directly in the module. */
function folderOf(file: string): string {
  return file.split('/').slice(1, -1)[0] ?? '';
}
