import { describe, expect, test } from 'bun:test';
import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { generator } from '../../../src/bench/workloads.ts';
import { ClientError } from '../../../src/core/errors.ts';
import { COLUMN_ROWS_MAX, column, table } from '../../../src/operations/engine/column-arguments.ts';
import { date, defaulted, oneOf } from '../../../src/operations/engine/schemas.ts';
import { dividend, iv, putCall, rate, ticker } from '../../../src/operations/engine/shared-fields.ts';
import { expectation, satisfies, validate } from '../../../src/operations/engine/validate.ts';
import { nullable } from '../../../src/operations/engine/wrapped-schemas.ts';
import { OPERATIONS } from '../../../src/operations/registry.ts';
import { errorOf } from '../../support/thrown.ts';

const SCHEMA = Type.Object(
  {
    ...{ put_call: putCall, iv, ticker },
    days: defaulted(Type.Integer({ minimum: 0, maximum: 10 }), 3),
    dividend,
  },
  { additionalProperties: false },
);
const GOOD = { put_call: 'C', iv: 0.2, ticker: 'SPY' };

const refusalOf = (value: unknown, schema: TObject = SCHEMA) =>
  errorOf(ClientError, () => validate(schema, value, 'invalid_body'));
const faultsOf = (value: unknown, schema?: TObject) => refusalOf(value, schema).fieldErrors;

describe('accepts', () => {
  test('valid values, and fills in the defaults of missing fields', () => {
    expect(validate(SCHEMA, GOOD, 'invalid_body')).toEqual({ ...GOOD, days: 3, dividend: 0 });
    expect(validate(SCHEMA, { ...GOOD, days: undefined }, 'invalid_body')).toMatchObject({ days: 3 });
    expect(validate(SCHEMA, { ...GOOD, days: 0, dividend: 0.02 }, 'invalid_body')).toMatchObject({
      ...{ days: 0, dividend: 0.02 },
    });
  });

  test('without modifying its input', () => {
    const given = Object.freeze({ ...GOOD });
    validate(SCHEMA, given, 'invalid_body');
    expect(given).toEqual(GOOD);
  });
});

describe('rejects, and names the field and the constraint', () => {
  test.each([
    ['a number that is text', { iv: '0.2' }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['a number below its bound', { iv: 0 }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['a number above its bound', { iv: 101 }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['NaN', { iv: Number.NaN }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['infinity', { iv: Number.POSITIVE_INFINITY }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['null', { iv: null }, '/iv', 'must be a finite number, at least 0.0001 and at most 100'],
    ['null, even if the field has a default', { days: null }, '/days', 'must be an integer, at least 0 and at most 10'],
    ['a fraction', { days: 1.5 }, '/days', 'must be an integer, at least 0 and at most 10'],
    ['another text', { put_call: 'call' }, '/put_call', 'must be one of "C", "P"'],
    ['the wrong case', { put_call: 'c' }, '/put_call', 'must be one of "C", "P"'],
    ['an unknown field', { extra: 1 }, '/extra', 'is not a field of this request'],
  ])('%s', (_what, overrides, field, expected) => {
    expect(faultsOf({ ...GOOD, ...overrides })).toEqual([{ field, expected }]);
  });

  test('text that does not match: names the pattern and its meaning', () => {
    const day = date('A day, YYYY-MM-DD.');
    const [fault] = faultsOf({ day: 'monday' }, Type.Object({ day }));
    expect(fault).toEqual({ field: '/day', expected: `must match ${day.pattern}: A day, YYYY-MM-DD` });
  });

  test('text of a wrong length: names the length and the meaning', () => {
    const faults = faultsOf({ ...GOOD, ticker: 'A'.repeat(41) });
    expect(faults).toEqual([
      { field: '/ticker', expected: 'must be a string of 1 to 40 characters: Symbol or name, e.g. BRK.B' },
    ]);
  });

  test('a missing field', () => {
    const { iv: _, ...rest } = GOOD;
    expect(faultsOf(rest)).toEqual([
      { field: '/iv', expected: 'is missing, and must be a finite number, at least 0.0001 and at most 100' },
    ]);
  });

  test.each([
    ['null', null],
    ['a list', []],
    ['text', 'x'],
    ['a number', 3],
    ['undefined', undefined],
  ])('%s instead of an object', (_what, value) => {
    expect(faultsOf(value)).toEqual([{ field: '', expected: 'must be a JSON object' }]);
  });

  test('with the code of the view and all fieldErrors in the message. A bad value needs no list of the fields', () => {
    const work = () => validate(SCHEMA, { ...GOOD, iv: -1, days: 99 }, 'invalid_parameter');
    expect(work).toThrow('/iv must be a finite number');
    expect(work).toThrow('; /days must be an integer');
    const { code, hint } = errorOf(ClientError, work);
    expect(code).toBe('invalid_parameter');
    expect(hint).toBeUndefined();
  });

  const FIELDS = 'Fields: put_call, iv, ticker, days (optional), dividend (optional).';
  test.each<[what: string, given: object, hint: string]>([
    ['a typing error: the name that was meant', { ...GOOD, dividned: 0 }, 'Did you mean dividend?'],
    ['two typing errors', { ...GOOD, dividned: 0, day: 1 }, 'Did you mean dividend, days?'],
    ['a word in another form', { ...GOOD, putCall: 'C' }, 'Did you mean put_call?'],
    ['another name: all fields', { ...GOOD, bogus: 1 }, FIELDS],
    ['a name of an object of JavaScript', { ...GOOD, constructor: 1 }, FIELDS],
    ['a missing field: all fields', { ...GOOD, iv: undefined }, FIELDS],
  ])('hint for %s', (_what, given, hint) => {
    expect(errorOf(ClientError, () => validate(SCHEMA, given, 'invalid_body')).hint).toBe(hint);
  });
});

describe('columns', () => {
  const COLUMNS = table({ put_call: column(putCall), iv: column(iv), rate: defaulted(column(rate), 0.04) });

  test.each([
    ['arrays', { put_call: ['C', 'P'], iv: [0.2, 0.3] }],
    ['a scalar for all rows', { put_call: 'C', iv: [0.2, 0.3] }],
    ['only scalars', { put_call: 'C', iv: 0.2 }],
    ['no rows', { put_call: [], iv: [] }],
    ['the maximum number of rows', { put_call: 'C', iv: Array(COLUMN_ROWS_MAX).fill(0.2) }],
  ])('accepts %s', (_what, given) => {
    expect(validate(COLUMNS, given, 'invalid_body')).toEqual({ ...given, rate: 0.04 });
  });

  const IV = 'must be a finite number, at least 0.0001 and at most 100';
  test.each([
    ['one item', { put_call: 'C', iv: [0.2, 0, 0.3] }, [['/iv/1', IV]]],
    ['the whole value, not one item', { put_call: 'C', iv: '0.2' }, [['/iv', `${IV}; or an array of those`]]],
    [
      'one column',
      { put_call: ['C', 'P'], iv: [0.2, 0.3], rate: [0] },
      [['/rate', 'must have as many items as /put_call: 2, not 1']],
    ],
    [
      'items of several columns',
      { put_call: ['C', 'X'], iv: [null, 0.3] },
      [
        ['/put_call/1', 'must be one of "C", "P"'],
        ['/iv/0', IV],
      ],
    ],
    [
      'a length, not the items',
      { put_call: 'C', iv: Array(COLUMN_ROWS_MAX + 1).fill(0) },
      [['/iv', `must be an array of at most ${COLUMN_ROWS_MAX} items`]],
    ],
  ])('the fault is %s', (_what, given, fieldErrors) => {
    expect(faultsOf(given, COLUMNS).map(({ field, expected }) => [field, expected])).toEqual(fieldErrors);
  });

  test('names at most ten items', () => {
    expect(faultsOf({ put_call: 'C', iv: Array(1000).fill(0) }, COLUMNS)).toHaveLength(10);
  });
});

describe('a hostile request gets no longer error than a valid one', () => {
  const SECRET = 'hunter2-hunter2';
  const long = 'A'.repeat(100_000);

  test.each([
    ['a value', { ...GOOD, put_call: SECRET }],
    ['a value of the wrong type', { ...GOOD, iv: SECRET }],
    ['a value of an unknown field', { ...GOOD, x: SECRET }],
    ['a value instead of an object', SECRET],
  ])('does not repeat %s', (_what, value) => {
    expect(messageOf(value)).not.toContain(SECRET);
  });

  test.each([
    ['plain', long],
    ['with a slash', `a/${long}`],
    ['with a tilde', `~${long}`],
    ['starting with a known field', `iv/${long}`],
  ])('truncates the name of an unknown field: %s', (_what, name) => {
    const [fault] = faultsOf({ ...GOOD, [name]: 1 });
    expect(fault!.expected).toBe('is not a field of this request');
    expect(fault!.field.length).toBeLessThan(90);
    expect(messageOf({ ...GOOD, [name]: 1 }).length).toBeLessThan(400);
  });

  test.each([
    ['a/b', '/a~1b'],
    ['m~n', '/m~0n'],
    ['~1', '/~01'],
    ['__proto__', '/__proto__'],
    ['constructor', '/constructor'],
    ['', '/'],
  ])('names the unknown field %j as %s', (name, field) => {
    const body = JSON.parse(`{"put_call":"C","iv":0.2,"ticker":"SPY",${JSON.stringify(name)}:1}`);
    expect(faultsOf(body).map((fault) => fault.field)).toEqual([field]);
  });

  test('names at most ten faults', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`x${i}`, i]));
    expect(faultsOf({ ...GOOD, ...many })).toHaveLength(10);
  });

  function messageOf(value: unknown): string {
    const { message, hint, fieldErrors } = refusalOf(value);
    return JSON.stringify([message, hint, fieldErrors]);
  }
});

test.each([
  [Type.String(), 'must be a string'],
  [Type.Boolean(), 'must be of type boolean'],
  [Type.Array(Type.Number(), { maxItems: 5 }), 'must be an array of at most 5 items'],
  [Type.Array(Type.Number()), 'must be an array'],
  [Type.Number(), 'must be a finite number'],
  [Type.Number({ exclusiveMinimum: 0, maximum: 1 }), 'must be a finite number, above 0 and at most 1'],
  [nullable(Type.Number(), ''), 'must be one of "number", "null"'],
  [Type.Union([Type.Literal('a'), Type.Literal('b')]), 'must be one of "a", "b"'],
  [oneOf(['x'], ''), 'must be one of "x"'],
] as [TSchema, string][])('in words: %j', (schema, words) => {
  expect(expectation(schema)).toBe(words);
});

describe('an answer satisfies its schema', () => {
  const answer = Type.Object({ figure: Type.Number() }, { additionalProperties: false });
  test.each([
    [{ figure: 1 }, true],
    [{ figure: Number.NaN }, false],
    [{ figure: Number.POSITIVE_INFINITY }, false],
    [{ figure: null }, false],
    [{}, false],
    [{ figure: 1, more: 2 }, false],
  ])('%j: %p', (value, expected) => {
    expect(satisfies(answer, value)).toBe(expected);
  });
});

test('the first check of a schema, which is not compiled, accepts what the compiled check accepts', () => {
  const texts = ['', 'SPY', 'spy', '2026-01-16', 'all', 'C', 'true', '1e3', 'x'.repeat(300), null, true, undefined];
  const values = [...texts, 0, -1, 1, 0.5, 5, 30, 1e9, 1e308, Number.NaN, Number.POSITIVE_INFINITY];
  const random = generator(7);
  const draw = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const accepts = (schema: TObject, value: unknown) => {
    try {
      return JSON.stringify(validate(schema, value, 'invalid_body'));
    } catch {
      return undefined;
    }
  };
  let accepted = 0;
  for (const { input, example } of OPERATIONS) {
    const names = [...Object.keys(input.properties), 'unknown'];
    for (let round = 0; round < 60; round++) {
      const given = { ...(example as object), ...(round > 0 && { [draw(names)]: draw(values) }) };
      // A copy of the schema has not been checked before.
      const schema = { ...input };
      const first = accepts(schema, given);
      expect(accepts(schema, given), JSON.stringify(given)).toBe(first as never);
      if (first !== undefined) accepted++;
    }
  }
  expect(accepted).toBeGreaterThan(200);
});
