import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import { ClientError } from '../../../src/core/errors.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { type Context, defineOperation, type Operation } from '../../../src/operations/engine/operation.ts';
import { extendedView, perform, restView, toolView, type View } from '../../../src/operations/engine/perform.ts';
import { defaulted, number } from '../../../src/operations/engine/schemas.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { OPERATIONS, TOOLS } from '../../../src/operations/registry.ts';
import { smallMarket } from '../small-market.ts';

const { context } = smallMarket();
const run = (view: View, args: unknown, within: Context = context) =>
  runToCompletion(perform(view, args, within, 'invalid_body'));

/** Doubles a number. 13 gives NaN, and 17 is too large to compute with. */
const double = defineOperation({
  ...{ name: 'double', title: 'Double', description: 'Twice a number.', page: 'house', example: { x: 4 } },
  input: Type.Object({ x: number('Any number.') }, { additionalProperties: false }),
  full: Type.Object(
    { twice: number('Twice it.'), half: number('Half of it.'), thrice: number('Thrice it.') },
    { additionalProperties: false },
  ),
  tool: { question: 'twice a number', method: 'double', units: [], answers: ['half', 'twice'] },
  rest: {
    method: 'POST',
    path: '/double',
    input: Type.Object({ x: defaulted(number('Any number.'), 5) }, { additionalProperties: false }),
    answers: ['thrice'],
  },
  run({ x }) {
    if (x === 7) throw new ClientError('unprocessable', 'not seven');
    const spoilt = { 13: 'thirteen' as unknown as number, 17: Number.NaN }[x];
    return {
      result: { twice: spoilt ?? 2 * x, half: x / 2, thrice: 3 * x },
      ...(x === 11 && {
        provenance: {
          ...{ source: 'test', simulated: false, as_of: '2026-01-05T20:00:00.000Z', age_s: 5, stale: false },
          notes: ['old'],
        },
      }),
    };
  },
}) as unknown as Operation;

describe('a view returns exactly its fields in its order', () => {
  test.each([
    ['the tool', toolView(double), { x: 4 }, { half: 2, twice: 8 }],
    ['the route with its own default', restView(double), {}, { thrice: 15 }],
    ['the extended answer with all fields', extendedView(double), { x: 4 }, { twice: 8, half: 2, thrice: 12 }],
  ])('%s', (_what, view, args, expected) => {
    const { body } = run(view, args);
    expect(JSON.stringify(body)).toBe(JSON.stringify(expected));
  });

  test('provenance is beside the answer, and inside the extended answer', () => {
    const tool = run(toolView(double), { x: 11 });
    expect(Object.keys(tool.body)).toEqual(['half', 'twice']);
    expect(tool.provenance).toMatchObject({ source: 'test', notes: ['old'] });
    const extended = run(extendedView(double), { x: 11 });
    expect(extended.body.provenance).toEqual({ ...tool.provenance });
    expect(run(extendedView(double), { x: 1 }).provenance).toBeUndefined();
  });
});

describe('errors', () => {
  test('bad arguments are rejected with the code of the view', () => {
    expect(codeOf(() => run(toolView(double), { x: 'a' }))).toBe('invalid_body');
    expect(codeOf(() => runToCompletion(perform(restView(double), { y: 1 }, context, 'invalid_parameter')))).toBe(
      'invalid_parameter',
    );
    expect(codeOf(() => run(toolView(double), {}))).toBe('invalid_body');
  });

  test('a ClientError of the operation passes unchanged', () => {
    expect(codeOf(() => run(toolView(double), { x: 7 }))).toBe('unprocessable');
  });

  test('arguments without a finite answer are rejected and named', () => {
    expect(() => run(toolView(double), { x: 17 })).toThrow(
      expect.objectContaining({
        code: 'unprocessable',
        message: '/twice of the answer is not a finite number for these arguments',
        fieldErrors: [{ field: '/x', expected: expect.any(String) }],
      }),
    );
    // Without an argument of the caller it is a defect.
    const none = { ...toolView(double), input: restView(double).input };
    const spoilt = { ...none, operation: { ...double, run: () => double.run({ x: 17 }, context, () => true) } };
    expect(() => run(spoilt, {})).toThrow('does not fit its schema');
  });

  test.each(['tool', 'extended'] as const)(
    'an answer that violates its schema is a defect, not a ClientError (%s)',
    (face) => {
      const view = face === 'tool' ? toolView(double) : extendedView(double);
      const work = () => run(view, { x: 13 });
      expect(work).toThrow('The answer of double does not fit its schema');
      expect(codeOf(work)).toBeUndefined();
    },
  );

  test('a view without the invalid field answers', () => {
    expect(run(restView(double), { x: 13 }).body).toEqual({ thrice: 39 });
  });

  function codeOf(work: () => unknown): string | undefined {
    try {
      work();
    } catch (error) {
      return error instanceof ClientError ? error.code : undefined;
    }
    throw new Error('nothing was thrown');
  }
});

describe('views', () => {
  test('are built once, because their validators are compiled per schema', () => {
    expect(toolView(double)).toBe(toolView(double));
    expect(extendedView(double)).toBe(extendedView(double));
    expect(restView(double)).toBe(restView(double));
  });

  test.each(TOOLS.map((tool) => [tool.name, tool] as const))(
    'the extended answer of %s has all fields of its tool',
    (_, tool) => {
      const extended = Object.keys(extendedView(tool).output.properties);
      expect(extended).toEqual(expect.arrayContaining(Object.keys(toolView(tool).output.properties)));
      expect(extended.length).toBeGreaterThan(tool.tool!.answers.length);
      expect(extended).toContain('provenance');
    },
  );

  test('every view allows only its named fields', () => {
    const faces = OPERATIONS.flatMap((each) => [
      ...(each.tool ? [toolView(each), extendedView(each)] : []),
      ...(each.rest ? [restView(each)] : []),
    ]);
    for (const { input, output } of faces) {
      expect([input.additionalProperties, output.additionalProperties]).toEqual([false, false]);
    }
  });
});

test('the context is told the ticker of a request in its canonical spelling, also of a past moment', () => {
  const seen: string[] = [];
  const watched = { ...context, onTicker: (ticker: string) => seen.push(ticker) };
  const [tool, extended] = [toolView, extendedView].map((viewOf) => viewOf(getLiveGexNodes as unknown as Operation));
  for (const args of [{ ticker: 'brk.b' }, { ticker: 'SPXW', at: '2026-01-02' }]) {
    for (const view of [tool!, extended!]) expect(() => run(view, args, watched)).toThrow();
  }
  expect(() => run(tool!, {}, watched)).toThrow();
  expect(seen).toEqual(['BRK.B', 'BRK.B', 'SPX', 'SPX']);
});
