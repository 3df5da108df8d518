import { describe, expect, test } from 'bun:test';
import { toolDefinitions } from '../../../src/mcp/tool-definitions.ts';
import { TOOLS as TOOL_OPERATIONS } from '../../../src/operations/registry.ts';
import { argumentsOf, labelOf, type McpTool, problemOf, toolFields } from '../../../web/data/tool-fields.ts';

/** The tools as the server lists them. */
const TOOLS = toolDefinitions(TOOL_OPERATIONS) as unknown as McpTool[];

function field(tool: string, name: string) {
  return toolFields(TOOLS.find((each) => each.name === tool)!).find((each) => each.name === name)!;
}

describe('fields', () => {
  test.each(TOOLS.map((tool) => [tool.name, tool] as const))('%s has one for each argument', (_, tool) => {
    const fields = toolFields(tool);
    expect(fields.map(({ name }) => name).toSorted()).toEqual(Object.keys(tool.inputSchema.properties!).toSorted());
    expect(fields.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual([
      ...(tool.inputSchema.required ?? []),
    ]);
    for (const each of fields) expect(each.help).not.toBe('');
  });

  test.each([
    ['compute_options_greeks', 'put_call', { kind: 'choice', choices: ['C', 'P'], isRequired: true, rule: '' }],
    ['compute_options_greeks', 'dividend', { kind: 'number', initial: '0', rule: '−1 to 1, optional' }],
    ['calculate_kelly_sizing', 'win_prob', { kind: 'number', initial: '', example: '0.55', rule: '0 to 1' }],
    ['calculate_kelly_sizing', 'fractional_kelly', { initial: '0.5', rule: 'above 0 to 1, optional' }],
    ['calculate_merton_probability', 'spot_price', { kind: 'number', rule: '1e-6 to 1e9' }],
    ['evaluate_market_hamiltonian', 'whale_fiat_kinetic', { kind: 'number', rule: '−1e15 to 1e15' }],
    ['calculate_merton_probability', 'days_to_expiry', { kind: 'integer', initial: '1', example: '7' }],
    ['get_live_gex_nodes', 'ticker', { kind: 'text', example: 'SPY', rule: '', label: 'ticker' }],
  ])('%s %s', (tool, name, expected) => {
    expect(field(tool, name)).toMatchObject(expected);
  });

  test('of an optional choice begins with nothing, and a boolean is a choice', () => {
    const fields = toolFields({
      name: 'x',
      inputSchema: { properties: { side: { enum: ['a', 'b'] }, is_live: { type: 'boolean', default: true } } },
    });
    expect(fields.map(({ choices, initial }) => [choices, initial])).toEqual([
      [['', 'a', 'b'], ''],
      [['', 'true', 'false'], 'true'],
    ]);
    expect(argumentsOf(fields, { side: '', is_live: 'false' })).toEqual({ is_live: false });
  });

  test('of hostile texts are clean, and of a schema without properties there are none', () => {
    const name = 'a\u202eb';
    const [one] = toolFields({ name: 'x', inputSchema: { properties: { [name]: { description: 'x\u202e\u0007y' } } } });
    expect([labelOf(name), one!.help]).toEqual(['a b', 'x y']);
    expect(toolFields({ name: 'x', description: 'Example: {broken}.', inputSchema: {} })).toEqual([]);
  });
});

describe('arguments', () => {
  const fields = toolFields(TOOLS.find(({ name }) => name === 'calculate_merton_probability')!);
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
  ])('%s', (_, texts, expected) => {
    expect(argumentsOf(fields, texts)).toEqual(expected);
  });
});

describe('sentences of errors', () => {
  const greeks = toolFields(TOOLS.find(({ name }) => name === 'compute_options_greeks')!);
  const whales = toolFields(TOOLS.find(({ name }) => name === 'get_whale_prints')!);
  test.each([
    [
      'several fields',
      greeks,
      {},
      '/put_call must be one of "C", "P"; /tte must be a finite number, at least 1e-8 and at most 100. Fields: put_call, spot, strike, tte, iv, rate, dividend (optional).',
      {
        put_call: 'Must be one of "C", "P".',
        tte: 'Must be a finite number, at least 1e-8 and at most 100.',
      },
      '',
    ],
    [
      'a pattern is left out',
      whales,
      {},
      '/target_expiry is missing, and must match ^\\d{4}-[01]\\d-[0-3]\\d$: A listed expiry, YYYY-MM-DD, e.g. whale_expiry of get_live_gex_nodes. Fields: ticker, target_expiry.',
      {
        target_expiry: 'Is missing, and must be: a listed expiry, YYYY-MM-DD, e.g. whale_expiry of get_live_gex_nodes.',
      },
      '',
    ],
    [
      'a value is named before the ticker',
      whales,
      { ticker: 'SPY', target_expiry: '2026-01-01' },
      '2026-01-01 is not a listed expiry of the ticker. Use a listed expiry. Nearest listed: 2026-10-22.',
      {
        target_expiry:
          '2026-01-01 is not a listed expiry of the ticker. Use a listed expiry. Nearest listed: 2026-10-22.',
      },
      '',
    ],
    [
      'no field is named',
      whales,
      { ticker: 'SPY' },
      'The tool could not compute. Retry shortly.',
      {},
      'The tool could not compute. Retry shortly.',
    ],
    [
      'an unknown field',
      whales,
      {},
      '/other is not a field of this request',
      {},
      '/other is not a field of this request',
    ],
  ] as const)('%s', (_, fields, texts, message, byField, rest) => {
    expect(problemOf(message, fields, texts as Record<string, string>)).toEqual({ byField, rest });
  });
});
