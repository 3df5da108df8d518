import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TSchema } from '@sinclair/typebox';
import { extendedView, restView, toolView } from '../../src/operations/engine/perform.ts';
import { CONTRACT_TOOLS, findOperation, OPERATIONS, REGISTRY, TOOLS } from '../../src/operations/registry.ts';

const ROOT = resolve(import.meta.dir, '../..');
const OPERATIONS_FOLDER = join(ROOT, 'src/operations');
const SOURCES = [...new Bun.Glob('**/*.ts').scanSync(OPERATIONS_FOLDER)];

test('lists the tools of the contract first, in its order, then the others', () => {
  expect(CONTRACT_TOOLS.map(({ name }) => name)).toEqual([
    'compute_options_greeks',
    'get_live_gex_nodes',
    'get_whale_prints',
    'calculate_merton_probability',
    'calculate_kelly_sizing',
    'run_strategic_omni_radar',
    'evaluate_market_hamiltonian',
    'detect_lethal_nodes',
    'evaluate_etf_contagion',
  ]);
  expect(TOOLS.slice(0, CONTRACT_TOOLS.length)).toEqual([...CONTRACT_TOOLS]);
});

test('each operation is registered under its own name', () => {
  expect(Object.entries(REGISTRY).filter(([name, operation]) => name !== operation.name)).toEqual([]);
  expect(OPERATIONS).toHaveLength(Object.keys(REGISTRY).length);
});

test('each file that defines an operation is imported by the registry', () => {
  const registry = readFileSync(join(OPERATIONS_FOLDER, 'registry.ts'), 'utf8');
  const defining = SOURCES.filter((file) =>
    /^export const \w+ = defineOperation\(/m.test(readFileSync(join(OPERATIONS_FOLDER, file), 'utf8')),
  );
  expect(defining.length).toBeGreaterThanOrEqual(OPERATIONS.length);
  expect(defining.filter((file) => !registry.includes(`'./${file}'`))).toEqual([]);
});

test.each(TOOLS.map(({ name }) => name))('the file of %s has a test file', (name) => {
  const file = SOURCES.find((each) =>
    readFileSync(join(OPERATIONS_FOLDER, each), 'utf8').includes(`\n  name: '${name}',`),
  )!;
  const test = `test/operations/${file.replace('.ts', '.test.ts')}`;
  expect(existsSync(join(ROOT, test)), `${name} lacks its tests in ${test}`).toBe(true);
});

test('every operation is a tool or has a route', () => {
  expect(OPERATIONS.filter(({ tool, rest }) => !tool && !rest).map(({ name }) => name)).toEqual([]);
});

test('finds an operation only by its exact name', () => {
  for (const { name } of OPERATIONS) expect(findOperation(name)?.name).toBe(name);
  for (const name of ['GET_WHALE_PRINTS', '', '__proto__', 'toString']) {
    expect(findOperation(name)).toBeUndefined();
  }
});

interface Field {
  readonly path: string;
  readonly schema: TSchema;
}

/** Every field of a schema, including fields of nested objects and lists. */
function fieldsOf(schema: TSchema, path: string): Field[] {
  if (schema.type === 'array') return fieldsOf(schema.items, `${path}[]`);
  const fields = Object.entries<TSchema>(schema.properties ?? {});
  return fields.flatMap(([name, its]) => [
    { path: `${path}.${name}`, schema: its },
    ...fieldsOf(its, `${path}.${name}`),
  ]);
}

function isNumeric(schema: TSchema): boolean {
  if (schema.anyOf) return schema.anyOf.some(isNumeric);
  return schema.type === 'array' ? isNumeric(schema.items) : schema.type === 'number' || schema.type === 'integer';
}

const FIELDS = OPERATIONS.flatMap((operation) => [
  ...fieldsOf(operation.input, `${operation.name} takes`),
  ...fieldsOf(operation.full, `${operation.name} gives`),
  ...(operation.tool ? fieldsOf(toolView(operation).output, `${operation.name} tool`) : []),
  ...(operation.tool ? fieldsOf(extendedView(operation).output, `${operation.name} extended`) : []),
  ...(operation.rest ? fieldsOf(restView(operation).input, `${operation.name} route takes`) : []),
  ...(operation.rest ? fieldsOf(restView(operation).output, `${operation.name} route`) : []),
]);

/** Words that state the unit of a number or the kind of number. */
const UNITS =
  /dollars?\b|decimal|percent|\byears?\b|\bdays?\b|seconds|vol points?\b|\bshares\b|contracts|contract-days|prints\b|hours|tickers|strikes (of|for|to|with|whose)|nodes on|rejections|attempts|times|per (1\.00|day|year|vol point)|to 1\b|to 100\b|nats|multiple|skewness|significant digits|\blog-?(jump|returns?)\b|, a ratio\b|^(ratio|factor|rows|maximum rows)\b/i;

describe('every field is documented', () => {
  test('there are more than 150 fields', () => {
    expect(FIELDS.length).toBeGreaterThan(150);
  });

  test('every field has a description', () => {
    expect(FIELDS.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([]);
  });

  test('every number has its unit or kind', () => {
    const bare = FIELDS.filter(({ schema }) => isNumeric(schema) && !UNITS.test(schema.description ?? ''));
    expect([...new Set(bare.map(({ path, schema }) => `${path}: ${schema.description}`))]).toEqual([]);
  });
});
