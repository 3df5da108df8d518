import { describe, expect, test } from 'bun:test';
import { COLUMN_ROWS_MAX } from '../../../src/operations/engine/column-arguments.ts';
import { readTableArguments } from '../../../src/operations/engine/table-arguments.ts';
import { validate } from '../../../src/operations/engine/validate.ts';
import { computeGreeksBatch } from '../../../src/operations/options/greeks-batch.ts';
import { solveImpliedVolatilities } from '../../../src/operations/options/implied-volatilities.ts';

const SCHEMA = computeGreeksBatch.input;

const fieldsOf = (text: string, schema = SCHEMA) => readTableArguments(schema as never, Buffer.from(text))?.fields;

/** The arguments that `validate` returns, with the columns that `readTableArguments` returns. */
const parsed = (text: string, schema = SCHEMA) =>
  Object.fromEntries(
    Object.entries(validate(schema as never, JSON.parse(text), 'invalid_body')).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? Float64Array.from(value, (each) => (each === 'C' ? 1 : each === 'P' ? -1 : (each as number)))
        : value,
    ]),
  );

const columns = {
  put_call: ['C', 'P', 'C'],
  spot: 100,
  strike: [90, 100.25, 1.1e2],
  tte: [0.1, 1e-3, 0.12345678901234568],
  iv: [0.2, 0.30000000000000004, 1],
};
const body = JSON.stringify(columns);

describe('reads what parsing and validation read', () => {
  test.each([
    body,
    JSON.stringify(columns, undefined, 2),
    JSON.stringify(columns).replaceAll(',', ' ,\t').replaceAll(':', ' :\r\n'),
    JSON.stringify({ ...columns, put_call: 'P', units: 'raw', rate: -0.5, dividend: [0, -0, 1] }),
    JSON.stringify({ iv: 0.2, tte: 1, strike: [100], spot: 100, put_call: ['C'] }),
    JSON.stringify({ put_call: 'C', spot: 100, strike: 100, tte: 1, iv: 0.2 }),
    body.replace('"spot":100', '"spot":1E+2'),
    body.replace('"spot":100', '"s\\u0070ot":100'),
    body.replace('"spot":100', '"spot":90,"spot":100'),
    body.replace('"put_call":', '"iv":1,"put_call":'),
  ])('%p', (text) => {
    expect(fieldsOf(text)).toEqual(parsed(text));
  });

  test('a table of the largest size', () => {
    const strike = Array.from({ length: COLUMN_ROWS_MAX }, (_, i) => 50 + i / 7);
    const text = JSON.stringify({
      ...columns,
      put_call: strike.map((_, i) => 'CP'[i % 2]),
      tte: 1,
      iv: strike.map(() => 0.2),
      strike,
    });
    expect(fieldsOf(text)).toEqual(parsed(text));
  });

  test('prices', () => {
    const text = '{"put_call":"C","price":[4.2,0],"spot":100,"strike":[100,105],"tte":0.25}';
    const schema = solveImpliedVolatilities.input as never;
    expect(fieldsOf(text, schema)).toEqual(parsed(text, schema));
  });
});

/** Texts that the caller parses and validates, because only the parser and the validator name the errors. */
const LEFT: readonly string[] = [
  // Numbers that the kernel leaves to the parser.
  body.replace('[90,', '[90.0000000000000000000001,'),
  '',
  ' ',
  'null',
  '[]',
  '{}',
  '"put_call"',
  `\ufeff${body}`,
  `${body}x`,
  `${body}{}`,
  `[${body}]`,
  body.slice(0, -1),
  `${body.slice(0, -1)},}`,
  body.replace('{', '{,'),
  body.replace('"spot":100', '"spot":"100"'),
  body.replace('"spot":100', '"spot":null'),
  body.replace('"spot":100', '"spot":true'),
  body.replace('"spot":100', '"spot":-1'),
  body.replace('"spot":100', '"spot":1e400'),
  body.replace('"put_call":', '"iv":1,"put_call":').replace('"iv":[', '"strike":['),
  body.replace('"spot":100', '"spot":{}'),
  body.replace('"spot":100', '"spot":[]'),
  body.replace('"spot":100', '"spot":'),
  body.replace('"spot":100', '"spot":1 2'),
  body.replace('"spot":100', '"spot":0100'),
  body.replace('"spot":100', '"SPOT":100'),
  body.replace('"spot":100', '"spot"100'),
  body.replace('"spot":100', 'spot:100'),
  body.replace('"spot":100', '"spot":100,"__proto__":1'),
  body.replace('"spot":100', '"spot":100,"constructor":[1]'),
  body.replace('"spot":100', '"spot":100,"units":["raw"]'),
  body.replace('"spot":100', '"spot":100,"units":"bips"'),
  body.replace('"spot":100', '"spot":100,"units":1'),
  body.replace('"spot":100', `"spot":100,"${'x'.repeat(100_000)}":1`),
  body.replace('"spot":100', '"spot":[100,100]'),
  body.replace('"spot":100', '"spot":[100,100,100,100]'),
  body.replace('"spot":100,', ''),
  body.replace('[90,', '[,90,'),
  body.replace('[90,', '[90,,'),
  body.replace('[90,', '[[90],'),
  body.replace('[90,', '["90",'),
  body.replace('[90,', '[null,'),
  body.replace('[90,', '[0,'),
  body.replace('[90,', '[1e999,'),
  body.replace('[90,', '[NaN,'),
  body.replace('[90,', '[90_0,'),
  body.replace('"C","P","C"', '"C","X","C"'),
  body.replace('"C","P","C"', '"C","P","CC"'),
  body.replace('"C","P","C"', '"C","P",1'),
  body.replace('"C","P","C"', '"C","P","C",'),
  body.replace('"C","P","C"', '"C" "P" "C"'),
  body.replace('"C","P","C"', ''),
  body.replace('["C","P","C"]', '"c"'),
  body.replace('["C","P","C"]', '["C","P","C"'),
  JSON.stringify({ ...columns, put_call: 'C', strike: Array(COLUMN_ROWS_MAX + 1).fill(100), tte: 1, iv: 0.2 }),
  JSON.stringify({ ...columns, put_call: Array(COLUMN_ROWS_MAX + 1).fill('C'), strike: 1, tte: 1, iv: 0.2 }),
];

test.each(LEFT.map((text) => [text.length > 300 ? `${text.slice(0, 300)}...` : text, text]))('leaves %s', (_, text) => {
  expect(fieldsOf(text)).toBeUndefined();
});

test('never reads a damaged table differently', () => {
  const bytes = [...'{}[]",:0123456789.eE+-CP \n\\xn\0', ...body];
  let read = 0;
  for (let round = 0; round < 20_000; round++) {
    const at = Math.floor(Math.random() * body.length);
    const character = bytes[Math.floor(Math.random() * bytes.length)]!;
    const kept = body.slice(at + (round % 3 === 0 ? 0 : 1));
    const text = `${body.slice(0, at)}${round % 3 === 2 ? '' : character}${kept}`;
    const fields = fieldsOf(text);
    if (fields === undefined) continue;
    read++;
    expect(fields).toEqual(parsed(text));
  }
  expect(read).toBeGreaterThan(1_000);
});
