import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { repairArguments } from '../../src/mcp/repair-arguments.ts';
import { objectOf, oneOf } from '../../src/operations/engine/schemas.ts';
import { putCall } from '../../src/operations/engine/shared-fields.ts';

const text = Type.Optional(Type.String());
const SCHEMA = objectOf({
  ticker: Type.String(),
  limit: Type.Optional(Type.Integer()),
  spot: Type.Optional(Type.Number()),
  wide: Type.Optional(Type.Boolean()),
  moves: Type.Optional(Type.Array(Type.Number(), { maxItems: 5 })),
  tickers: Type.Optional(Type.Array(Type.String(), { maxItems: 5 })),
  options: Type.Optional(Type.Object({})),
  put_call: Type.Optional(putCall),
  order: Type.Optional(oneOf(['asc', 'desc'], '')),
  ...{ at: text, from: text, to: text, compare_with: text },
});

/** A Monday, 10:00 in New York. */
const NOW = Date.parse('2026-11-23T15:00:00Z');
const repaired = (given: unknown) => repairArguments(SCHEMA, given, () => NOW);

describe('reads', () => {
  test.each<[given: Record<string, unknown>, read: Record<string, unknown>]>([
    [{ limit: '5' }, { limit: 5 }],
    [{ limit: ' 5.0 ' }, { limit: 5 }],
    [{ limit: '５' }, { limit: 5 }],
    [{ spot: '-2.5e1' }, { spot: -25 }],
    [{ spot: '.5' }, { spot: 0.5 }],
    [{ wide: 'True' }, { wide: true }],
    [{ wide: 'false' }, { wide: false }],
    [{ moves: '[-1,1]' }, { moves: [-1, 1] }],
    [{ moves: '-1, 1' }, { moves: [-1, 1] }],
    [{ moves: ['-1', 1] }, { moves: [-1, 1] }],
    [{ moves: '5' }, { moves: [5] }],
    [{ tickers: '["SPY"]' }, { tickers: ['SPY'] }],
    [{ tickers: 'SPY,QQQ' }, { tickers: ['SPY', 'QQQ'] }],
    [{ tickers: "['SPY', 'QQQ']" }, { tickers: ['SPY', 'QQQ'] }],
    [{ tickers: ['ＳＰＹ'] }, { tickers: ['SPY'] }],
    [{ options: '{"a":1}' }, { options: { a: 1 } }],
    [{ put_call: 'c' }, { put_call: 'C' }],
    [{ put_call: 'Put' }, { put_call: 'P' }],
    [{ put_call: 'CALLS' }, { put_call: 'C' }],
    [{ order: 'DESC' }, { order: 'desc' }],
    [{ ticker: 'ＳＰＹ' }, { ticker: 'SPY' }],
    [{ at: '2026-11-20T15:00' }, { at: '2026-11-20T15:00:00-05:00' }],
    [{ at: '2026-07-01 15:00' }, { at: '2026-07-01T15:00:00-04:00' }],
    [{ at: '2026-11-20 15:00:30+00:00' }, { at: '2026-11-20T15:00:30+00:00' }],
    [{ at: 'yesterday' }, { at: '2026-11-22' }],
    [{ at: 'previous close' }, { at: '2026-11-20T16:00:00-05:00' }],
    [{ from: 'Yesterday' }, { from: '2026-11-22' }],
    [{ from: 'today' }, { from: '2026-11-23' }],
    [{ to: 'now' }, { to: '2026-11-23T10:00:00-05:00' }],
    [{ compare_with: 'previous' }, { compare_with: 'previous_close' }],
    [{ compare_with: 'prev_close' }, { compare_with: 'previous_close' }],
    [{ compare_with: 'yesterday' }, { compare_with: '2026-11-22' }],
    [{ compare_with: 'today' }, { compare_with: '2026-11-23T00:00:00-05:00' }],
  ])('%j as %j', (given, read) => {
    const { args, note } = repaired({ ticker: 'SPY', ...given });
    expect(args).toEqual({ ticker: 'SPY', ...read });
    const [[field, value]] = Object.entries(read) as [[string, unknown]];
    const told = typeof value === 'string' ? value : JSON.stringify(value);
    expect(note).toBe(`Arguments were repaired: ${field} is ${told}.`);
  });

  test('words as seen from the moment of a replay', () => {
    const { args } = repaired({ ticker: 'SPY', at: '2026-10-06', compare_with: 'yesterday', from: 'previous close' });
    expect(args).toEqual({
      ...{ ticker: 'SPY', at: '2026-10-06' },
      ...{ compare_with: '2026-10-05', from: '2026-10-05T16:00:00-04:00' },
    });
  });
});

test.each([
  { limit: null },
  { limit: '' },
  { put_call: ' ' },
  { moves: null },
  { at: 'now' },
  { at: 'Today' },
  { at: null },
])('leaves out %j', (given) => {
  const { args, note } = repaired({ ticker: 'SPY', ...given });
  expect(args).toEqual({ ticker: 'SPY' });
  expect(note).toBe(`Arguments were repaired: ${Object.keys(given)[0]} is left out.`);
});

test('has one note for all repairs of a call', () => {
  const { note } = repaired({ ticker: 'SPY', limit: '5', tickers: 'SPY,QQQ', at: null, compare_with: '' });
  expect(note).toBe(
    'Arguments were repaired: limit is 5, tickers is ["SPY","QQQ"], at is left out, compare_with is left out.',
  );
});

test('a long value is short in the note', () => {
  expect(repaired({ ticker: 'SPY', tickers: 'A'.repeat(9_000) }).note!.length).toBeLessThan(150);
});

test.each([
  [
    'valid arguments',
    { ticker: 'SPY', limit: 5, moves: [1], put_call: 'C', at: '2026-11-20', compare_with: 'previous_close' },
  ],
  ['unknown fields', { ticker: 'SPY', other: null, constructor: '' }],
  ['texts that are no number', { limit: 'five', spot: '1,000', moves: ['a'] }],
  ['numbers that are not finite', { limit: 'NaN', spot: 'Infinity', moves: ['0x10'] }],
  ['texts that are no choice', { put_call: 'both', order: 'up' }],
  ['texts that are no moment', { at: '2026-02-30 15:00', from: '2026-11-20 25:00', to: 'soon' }],
  ['values of another type', { limit: true, moves: 5, tickers: {}, ticker: 5, at: 5 }],
  ['texts that are too long to be valid', { moves: '['.repeat(10_001), ticker: '５'.repeat(10_001) }],
  ['lists that are too long to be valid', { tickers: Array(6).fill('ＳＰＹ') }],
])('leaves %s unchanged', (_what, given) => {
  expect(repaired(given)).toEqual({ args: given, note: undefined });
});

test.each([null, undefined])('reads %p as no arguments', (given) => {
  expect(repaired(given)).toEqual({ args: {}, note: undefined });
});

test.each([[[]], ['text'], [5]])('leaves arguments that are no object unchanged: %j', (given) => {
  expect(repaired(given)).toEqual({ args: given, note: undefined });
});
