import { expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import page from '../../docs/tool-methods.md' with { type: 'text' };
import { METHODS } from '../../src/mcp/tool-methods.ts';
import { toolView } from '../../src/operations/engine/perform.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { tokensOf } from '../support/tokens.ts';

/** Limit on a section, which a model reads as one resource. */
const SECTION_TOKENS_MAX = 900;

const [INTRODUCTION = '', ...SECTIONS] = page.split(/^(?=## )/m);

test('the page has a section for each tool, in order', () => {
  const names = TOOLS.map(({ name }) => name);
  expect(SECTIONS.map((section) => section.slice(3, section.indexOf('\n')))).toEqual(names);
  expect([...METHODS.keys()]).toEqual(names);
});

test('the page says once what every answer has in its provenance, and each section links to its formulas', () => {
  expect(page.match(/\*\*Provenance\.\*\*/g)).toHaveLength(1);
  const linked = SECTIONS.map((section) => /^\[Formulas\]\(methods\/\w+\.md#(\S+)\)$/m.exec(section)?.[1] ?? section);
  expect(linked).toEqual(TOOLS.map(({ tool }) => tool!.method));
});

test('the introduction is as short as a section', () => {
  expect(tokensOf(INTRODUCTION)).toBeLessThanOrEqual(SECTION_TOKENS_MAX);
});

test.each([...METHODS])('%s', (_, section) => {
  expect(tokensOf(section)).toBeLessThanOrEqual(SECTION_TOKENS_MAX);
  // A model that reads a section over MCP has neither routes nor other pages.
  expect(section.match(/\/api\/|\b(?:GET|POST) |\]\(|\.md\b|\.ts\b|\bREST\b|\bkernels?\b/g)).toBeNull();
  for (const part of ['Answers', 'Figures', 'Method', 'Provenance', 'Limits']) {
    expect([part, section.includes(`**${part}`)]).toEqual([part, true]);
  }
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))('the section of %s names every figure', (name, tool) => {
  const { output, echoes } = toolView(tool);
  const section = METHODS.get(name) ?? '';
  expect(section, `docs/tool-methods.md lacks a section of ${name}`).not.toBeEmpty();
  const keys = [...Object.keys(output.properties), ...echoes];
  expect(keys.filter((key) => !section.includes(`\`${key}\``))).toEqual([]);
  const within = Object.values<TSchema>(output.properties).flatMap(fieldsWithin);
  expect(within.filter((field) => !new RegExp(`\\b${field}\\b`).test(section))).toEqual([]);
});

test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
  'the section of %s says truly what is in provenance',
  (name, tool) => {
    const { echoes } = toolView(tool);
    const texts = METHODS.get(name)!.match(/in `provenance`\**:[\s\S]*?(?=\n- |\n\n)/gi) ?? [];
    const named = texts.flatMap((text) => [...text.matchAll(/`(\w+)`: |`(\w+)`, the |`(\w+)` is /g)]);
    const fields = named.map(([, ...names]) => names.find(Boolean)!).filter((each) => each in tool.full.properties);
    expect(fields.filter((each) => !echoes.includes(each))).toEqual([]);
  },
);

/** Returns the names of the fields within an object or the rows of a list. The quantiles count as one field. */
function fieldsWithin(schema: TSchema): string[] {
  const { properties } = schema.type === 'array' ? schema.items : schema;
  return Object.entries<TSchema>(properties ?? {}).flatMap(([field, its]) => [
    ...(/^p\d\d$/.test(field) ? [] : [field]),
    ...fieldsWithin(its),
  ]);
}
