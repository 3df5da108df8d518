/**
 * Checks `blind-tasks.json`: everyday questions of traders, risk managers and quants, which show whether models choose the right tool. A model
 * gets the definitions of the tools and one question, and is told that it is Monday, 24 August 2026. Its first call is compared with the
 * expected one. Each task has these fields:
 *
 * - `task`: the question. It names no tool.
 * - `tool`: the tool that answers the question best.
 * - `also`: other tools whose answer has what the question asks for. A call of such a tool is right with any arguments.
 * - `args`: arguments that a call of `tool` must have, with these values. Further arguments are allowed.
 * - `either`: arguments that a call of `tool` must have, each with one of the listed values.
 *
 * Numbers match within 1 %. Texts match in any case, and a date also matches an instant on this New York day. A list matches if it has all
 * listed elements.
 */
import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { toolView } from '../../src/operations/engine/perform.ts';
import { satisfies } from '../../src/operations/engine/validate.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import tasks from './blind-tasks.json';

interface BlindTask {
  readonly task: string;
  readonly tool: string;
  readonly also?: readonly string[];
  readonly args?: Readonly<Record<string, unknown>>;
  readonly either?: Readonly<Record<string, readonly unknown[]>>;
}

const TASKS = tasks as readonly BlindTask[];

test('there are at least fifty tasks, all different', () => {
  expect(TASKS.length).toBeGreaterThanOrEqual(50);
  expect(new Set(TASKS.map(({ task }) => task)).size).toBe(TASKS.length);
});

test.each(TOOLS.map(({ name }) => name))('there are at least three tasks for %s', (name) => {
  expect(
    TASKS.filter(({ tool }) => tool === name).length,
    `test/mcp/blind-tasks.json lacks tasks for ${name}`,
  ).toBeGreaterThanOrEqual(3);
});

test.each(TASKS.map((each) => [each.task, each] as const))('%s', (text, task) => {
  const { tool, also = [], args = {}, either = {} } = task;
  const known = new Set(TOOLS.map(({ name }) => name));
  expect([tool, ...also].filter((name) => !known.has(name))).toEqual([]);
  expect(also).not.toContain(tool);
  expect([...known].filter((name) => text.includes(name))).toEqual([]);
  expect(Object.keys(task).filter((key) => !['task', 'tool', 'also', 'args', 'either'].includes(key))).toEqual([]);
  const expected = [
    ...Object.entries(args).map(([name, value]) => [name, [value]] as const),
    ...Object.entries(either),
  ];
  expect(new Set(expected.map(([name]) => name)).size).toBe(expected.length);
  const { properties, required = [] } = toolView(findOperation(tool)!).input;
  expect(required.filter((name) => !expected.some(([each]) => each === name))).toEqual([]);
  for (const [name, values] of expected) {
    const schema = properties[name];
    expect([name, schema !== undefined]).toEqual([name, true]);
    const isValid = (value: unknown) => satisfies(Type.Object({ [name]: schema! }), { [name]: value });
    expect([name, values.some(isValid)]).toEqual([name, true]);
  }
});
