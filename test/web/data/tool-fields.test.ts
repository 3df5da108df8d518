import { describe, expect, test } from 'bun:test';
import { RequestProblem } from '../../../web/data/request.ts';
import { argumentsOf, labelOf, problemsByField, toolFields } from '../../../web/data/tool-fields.ts';
import { TOOL_DESCRIPTIONS, toolTaking } from './tool-descriptions.ts';

const fieldsOf = (tool: string) => toolFields(TOOL_DESCRIPTIONS.get(tool)!);

function field(tool: string, name: string) {
  return fieldsOf(tool).find((each) => each.name === name)!;
}

describe('fields', () => {
  test.each([...TOOL_DESCRIPTIONS])('%s has one for each argument', (_, tool) => {
    const fields = toolFields(tool);
    const { schema } = tool.requestBody.content['application/json'];
    expect(fields.map(({ name }) => name).toSorted()).toEqual(Object.keys(schema.properties!).toSorted());
    expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual([...(schema.required ?? [])]);
    for (const each of fields) expect(each.help).not.toBe('');
  });

  test.each([
    ['compute_options_greeks', 'put_call', { kind: 'choice', choices: ['C', 'P'], isRequired: true, rule: '' }],
    ['compute_options_greeks', 'dividend', { kind: 'number', initial: '0', rule: '−1 to 1, optional' }],
    ['calculate_kelly_sizing', 'win_prob', { kind: 'number', initial: '', example: '0.55', rule: '0 to 1' }],
    ['calculate_kelly_sizing', 'fractional_kelly', { initial: '0.5', rule: 'above 0 to 1, optional' }],
    ['calculate_merton_probability', 'spot_price', { kind: 'number', rule: '0.000001 to 1.00B' }],
    ['evaluate_market_hamiltonian', 'whale_fiat_kinetic', { kind: 'number', rule: '−1.00Q to 1.00Q' }],
    ['calculate_merton_probability', 'days_to_expiry', { kind: 'number', initial: '1', example: '7' }],
    ['get_live_gex_nodes', 'ticker', { kind: 'text', example: 'SPY', rule: '', label: 'ticker' }],
  ])('%s %s', (tool, name, expected) => {
    expect(field(tool, name)).toMatchObject(expected);
  });

  test('of an optional choice begins with nothing, and a boolean is a choice', () => {
    const fields = toolFields(toolTaking({ side: { enum: ['a', 'b'] }, is_live: { type: 'boolean', default: true } }));
    expect(fields.map(({ choices, initial }) => [choices, initial])).toEqual([
      [['', 'a', 'b'], ''],
      [['', 'true', 'false'], 'true'],
    ]);
    expect(argumentsOf(fields, { side: '', is_live: 'false' })).toEqual({ is_live: false });
  });

  test('of hostile texts are clean, and of a schema without properties there are none', () => {
    const name = 'a\u202eb';
    const [one] = toolFields(toolTaking({ [name]: { description: 'x\u202e\u0007y' } }));
    expect([labelOf(name), one!.help]).toEqual(['a b', 'x y']);
    expect(toolFields(toolTaking(undefined))).toEqual([]);
  });
});

describe('arguments', () => {
  const fields = fieldsOf('calculate_merton_probability');
  test.each([
    ['numbers are numbers', { ticker: ' SPY ', spot_price: '631.06' }, { ticker: 'SPY', spot_price: 631.06 }],
    ['empty fields are left out', { ticker: '', spot_price: ' ', stag_prob: '0.5' }, { stag_prob: 0.5 }],
    ['a minus may be a typographic one', { spot_price: '−5' }, { spot_price: -5 }],
    [
      'what is no number is sent as it is',
      { spot_price: 'abc', days_to_expiry: '1.5' },
      { spot_price: 'abc', days_to_expiry: 1.5 },
    ],
    ['a text of digits stays a text', { ticker: '123' }, { ticker: '123' }],
    ['a text in brackets is a list', { ticker: '[-2, 1]' }, { ticker: [-2, 1] }],
  ])('%s', (_, texts, expected) => {
    expect(argumentsOf(fields, texts)).toEqual(expected);
  });
});

describe('sentences of errors', () => {
  const greeks = fieldsOf('compute_options_greeks');
  const whales = fieldsOf('get_whale_prints');
  const ofField = (pointer: string, detail: string) => ({ pointer, detail });
  test.each([
    [
      'several fields',
      greeks,
      {},
      {
        detail: '/put_call must be one of "C", "P"; /tte must be a finite number, at least 1e-8 and at most 100',
        errors: [
          ofField('/put_call', 'must be one of "C", "P"'),
          ofField('/tte', 'must be a finite number, at least 1e-8 and at most 100'),
        ],
      },
      {
        put_call: 'Must be one of "C", "P".',
        tte: 'Must be a finite number, at least 1e-8 and at most 100.',
      },
    ],
    [
      'a pattern is left out, and the place in a list',
      whales,
      {},
      {
        errors: [
          ofField(
            '/target_expiry/0',
            'is missing, and must match ^\\d{4}-[01]\\d-[0-3]\\d$: A listed expiry, YYYY-MM-DD, e.g. whale_expiry of get_live_gex_nodes.',
          ),
        ],
      },
      {
        target_expiry: 'Is missing, and must be: a listed expiry, YYYY-MM-DD, e.g. whale_expiry of get_live_gex_nodes.',
      },
    ],
    [
      'a value is quoted before another one',
      whales,
      { ticker: 'SPY', target_expiry: '2026-01-01' },
      { detail: '2026-01-01 is not a listed expiry of SPY', hint: 'Nearest listed: 2026-10-22.' },
      { target_expiry: '2026-01-01 is not a listed expiry of SPY. Nearest listed: 2026-10-22.' },
    ],
    [
      'no field is named',
      whales,
      { ticker: 'SPY' },
      { detail: 'The tool could not compute', hint: 'Retry shortly.' },
      {},
    ],
    ['an unknown field', whales, {}, { errors: [ofField('/other', 'is not a field of this request')] }, {}],
    ['errors of another form', whales, {}, { detail: 'x', errors: 'broken' }, {}],
  ] as const)('%s', (_, fields, texts, body, byField) => {
    const problem = new RequestProblem(422, body);
    expect(problemsByField(problem, fields, texts as Record<string, string>)).toEqual(byField);
  });
});
