import { describe, expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import { READ_RESOURCE } from '../../src/mcp/read-resource.ts';
import { toolDefinitions } from '../../src/mcp/tool-definitions.ts';
import { toolView } from '../../src/operations/engine/perform.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import {
  DEFINITION_TOKENS_MAX,
  READER_TOKENS_MAX,
  VISIBLE_TOKENS_MAX,
  visibleListTokensMax,
} from '../support/tokens.ts';
import { definitionTokens, visibleTokens } from '../support/tool-tokens.ts';

const TOOL_LIST = toolDefinitions(TOOLS);

const visible = visibleTokens();

test.each(Object.entries(definitionTokens()))('the definition of %s takes few tokens', (name, tokens) => {
  expect(tokens, `tokens of the definition of ${name}`).toBeLessThanOrEqual(DEFINITION_TOKENS_MAX);
  expect(visible[name]!, `tokens of name, description and input schema of ${name}`).toBeLessThanOrEqual(
    VISIBLE_TOKENS_MAX,
  );
});

test('what hosts show to a model of all tools takes few tokens', () => {
  const all = Object.values(visible).reduce((sum, tokens) => sum + tokens, 0);
  expect(all).toBeLessThanOrEqual(visibleListTokensMax(TOOLS.length));
  expect(visible[READ_RESOURCE.name]).toBeLessThanOrEqual(READER_TOKENS_MAX);
});

test('the same operations give the same list in the same order', () => {
  expect(TOOL_LIST.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name));
  expect(JSON.stringify(toolDefinitions(TOOLS))).toBe(JSON.stringify(TOOL_LIST));
});

describe.each(TOOL_LIST.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const { input, output } = toolView(findOperation(name)!);

  test('takes the input of its view', () => {
    expect(JSON.stringify(tool.inputSchema)).toBe(JSON.stringify(input));
  });

  test('names and describes every field of its answers', () => {
    expect(Object.keys(tool.outputSchema!.properties!)).toEqual([...Object.keys(output.properties), 'provenance']);
    const untold = fieldsOf(output).flatMap(({ path, schema }) => {
      const description = descriptionAt(tool.outputSchema as unknown as TSchema, path);
      // Within an object, the object's description covers its fields.
      return description === schema.description || description?.includes(path.at(-1)!) ? [] : [path.join('.')];
    });
    expect(untold).toEqual([]);
  });

  test('marks the fields that may be null', () => {
    for (const [field, { anyOf }] of Object.entries<TSchema>(output.properties)) {
      const { type } = (tool.outputSchema!.properties as Record<string, { type: string | string[] }>)[field]!;
      expect([field, [type].flat().includes('null')]).toEqual([field, anyOf !== undefined]);
    }
  });
});

interface Field {
  readonly path: readonly string[];
  readonly schema: TSchema;
}

/**
 * Returns the fields of an answer, with those of its rows and its objects. A group of numbered names, such as the quantiles, counts as one
 * field.
 */
function fieldsOf(schema: TSchema, path: readonly string[] = []): Field[] {
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, its]) => {
    const fieldPath = [...path, name];
    const within = its.type === 'array' ? its.items : its;
    return [{ path: fieldPath, schema: its }, ...(name === 'quantiles' ? [] : fieldsOf(within, fieldPath))];
  });
}

/** Returns the description of a field, or of the innermost published object that contains the field. */
function descriptionAt(schema: TSchema, [name, ...rest]: readonly string[]): string | undefined {
  const its = schema.properties?.[name!];
  if (its === undefined) return schema.description;
  if (rest.length === 0) return its.description;
  return descriptionAt(its.type === 'array' && its.items.properties ? its.items : its, rest);
}
