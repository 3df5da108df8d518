import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REFERENCE_FOLDER, referencePages } from '../scripts/reference.ts';
import { table } from '../scripts/reference-tables.ts';
import { fieldsOf, limitsOf, typeOf } from '../scripts/reference-words.ts';
import { TERMINAL_PAGE, terminalPage } from '../scripts/terminal-page.ts';
import { OPERATIONS, TOOLS } from '../src/operations/registry.ts';
import { SETTINGS } from '../src/settings/config.ts';

const pages = referencePages();
const linesOf = (file: string) => pages.get(file)!.split('\n');

test('the pages of docs/reference match the code (bun run gen)', () => {
  expect(readdirSync(REFERENCE_FOLDER).sort()).toEqual([...pages.keys()].sort());
  for (const [file, text] of pages) expect(readFileSync(join(REFERENCE_FOLDER, file), 'utf8')).toBe(text);
});

test('docs/terminal.md matches the code (bun run gen)', () => {
  expect(readFileSync(TERMINAL_PAGE, 'utf8')).toBe(terminalPage());
});

test('each operation has a section with its arguments and every key of its answer', () => {
  const sections = pages.get('operations.md')!.split(/^## /m);
  for (const { name, input, full, rest } of OPERATIONS) {
    const section = sections.find((each) => each.startsWith(`\`${name}\``))!;
    const said = [...Object.keys({ ...input.properties, ...rest?.input?.properties }), ...Object.keys(full.properties)];
    expect(said.filter((key) => !section.includes(`| \`${key}\` |`))).toEqual([]);
  }
});

test('each tool has a call and its provenance, and each setting has a row', () => {
  const sections = pages.get('operations.md')!.split(/^## /m);
  for (const { name, example } of TOOLS) {
    const section = sections.find((each) => each.startsWith(`\`${name}\``))!;
    expect(section).toContain(JSON.stringify(example));
    expect(section).toContain('In `provenance` over MCP: ');
  }
  expect(sections.filter((section) => section.includes('```json'))).toHaveLength(TOOLS.length);
  for (const { env } of Object.values(SETTINGS))
    expect([env, linesOf('settings.md').filter((line) => line.includes(`| \`${env}\` |`)).length]).toEqual([env, 1]);
});

test('links between the sections lead to sections that exist', () => {
  for (const [file, text] of pages) {
    const links = [...text.matchAll(/\]\((operations\.md)?#([\w-]+)\)/g)];
    const broken = links.filter(([, to, name]) => !linesOf(to ?? file).includes(`## \`${name}\``));
    expect([file, broken.map(([link]) => link)]).toEqual([file, []]);
  }
});

test('no page has an undefined value, and every table row has as many cells as its header', () => {
  for (const [file, text] of pages) {
    expect([file, text.match(/undefined|\[object|NaN|\bany\b \|/g)]).toEqual([file, null]);
    for (const block of text.split('\n\n').filter((each) => each.startsWith('| '))) {
      const cells = block
        .trim()
        .split('\n')
        .map((line) => line.split(/(?<!\\)\|/).length);
      expect(new Set(cells).size).toBe(1);
    }
  }
});

test.each([
  [{ type: 'number', minimum: 1e-6, maximum: 1e9 }, 'number', '1e-6 to 1e9'],
  [{ type: 'number', exclusiveMinimum: 0, maximum: 1 }, 'number', 'above 0, at most 1'],
  [{ type: 'integer', minimum: 0 }, 'integer', 'at least 0'],
  [{ enum: ['C', 'P'] }, '`C` or `P`', ''],
  [{ const: 'success' }, '`success`', ''],
  [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number or null', ''],
  [
    { type: 'array', items: { type: 'number', minimum: 0 }, maxItems: 20_000 },
    'number[]',
    'at least 0, up to 20,000 items',
  ],
  [{ type: 'array', items: { enum: ['C', 'P'] } }, '(`C` or `P`)[]', ''],
  [{ type: 'object', patternProperties: { '^(.*)$': { type: 'integer' } } }, 'map to integer', ''],
  [
    {
      anyOf: [
        { type: 'number', maximum: 1 },
        { type: 'array', items: { type: 'number', maximum: 1 }, maxItems: 2 },
      ],
    },
    'number or number[]',
    'at most 1, up to 2 items',
  ],
])('%j is a %s, %s', (schema, type, limits) => {
  expect([typeOf(schema), limitsOf(schema)]).toEqual([type, limits]);
});

test("an object's fields follow it, and adjacent fields with equal descriptions share a row", () => {
  const price = { type: 'number', description: 'Price.' };
  const inner = { type: 'object', properties: { low: price, high: price, day: { type: 'string' } } };
  const paths = (schema: object) => fieldsOf({ own: schema }).map((each) => each.paths);
  expect(paths(inner)).toEqual([['own'], ['own.low', 'own.high'], ['own.day']]);
  expect(paths({ anyOf: [inner, { type: 'null' }] })).toEqual(paths(inner));
  expect(paths({ type: 'array', items: inner })).toEqual([['own'], ['own[].low', 'own[].high'], ['own[].day']]);
  expect(fieldsOf({ low: price, high: price }).map((each) => each.paths)).toEqual([['low'], ['high']]);
});

test('an empty column is left out, and a bar in a cell is escaped', () => {
  expect(table(['a', 'b'], [['1|2', '']])).toBe('| a |\n| --- |\n| 1\\|2 |');
});
