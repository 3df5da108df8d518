import { Type } from '@sinclair/typebox';
import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { type GreekName, greeks, inMarketUnits } from '../../math/black-scholes.ts';
import {
  answerColumn,
  binaryColumns,
  byRows,
  COLUMN_ROWS_MAX,
  COLUMNS_BYTES_MAX,
  column,
  numbers,
  rowCount,
  SIDE,
  sides,
  table,
} from '../engine/column-arguments.ts';
import { defineOperation } from '../engine/operation.ts';
import { BINARY_ROWS, rowsCost } from '../engine/request-cost.ts';
import { defaulted, dividendYield, iv, oneOf, putCall, rate, spot, strike, tte } from '../engine/schemas.ts';
import { expectation } from '../engine/validate.ts';

const units = oneOf(
  ['market', 'raw'],
  'market: vega and vanna per vol point (0.01), volga as the change of this vega per vol point, theta and charm per calendar day ' +
    '(1/365 year), rho per 1 % of rate. raw: partial derivatives per 1.00 of spot, volatility or rate, and per year of time.',
);

const cells = (description: string) => answerColumn(Type.Number(), description);

const full = Type.Object(
  {
    count: Type.Integer({ description: 'Rows of the answer: the length of each array.' }),
    units,
    price: cells('Model price, dollars.'),
    delta: cells('Change of price per 1.00 of spot, dollars.'),
    gamma: cells('Change of delta per 1.00 of spot.'),
    vega: cells('Change of price per vol point (raw: per 1.00 of volatility), dollars.'),
    theta: cells('Change of price per calendar day (raw: per year) that passes, dollars.'),
    rho: cells('Change of price per 1 % of rate (raw: per 1.00 of rate), dollars.'),
    vanna: cells('Change of delta per vol point (raw: per 1.00 of volatility).'),
    charm: cells('Change of delta per calendar day (raw: per year) that passes.'),
    volga: cells(
      'Change of vega, in the unit of vega above, per vol point (raw: per 1.00 of volatility); also called vomma.',
    ),
  },
  { additionalProperties: false },
);

/** The columns of a binary body, in their order. */
const BINARY_INPUTS = { put_call: SIDE, spot, strike, tte, iv, rate, dividend: dividendYield };

/** The columns of an answer, in the order of a binary answer. */
const GREEKS = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const;

/**
 * Computes the Greeks of a binary body. The answer has the same layout: the columns of GREEKS, one after the other. Works on whole columns
 * and creates no JavaScript value per cell.
 */
function* greeksOfBinary(body: ArrayBuffer, given: string | undefined): Steps<Uint8Array> {
  if (given !== undefined && given !== 'market' && given !== 'raw') {
    throw new ClientError('invalid_parameter', 'The query parameter units must be market or raw', {
      hint: 'Leave the parameter out for market units.',
      fieldErrors: [{ field: '/units', expected: expectation(units) }],
    });
  }
  const { count, columns } = binaryColumns(body, BINARY_INPUTS);
  yield { message: 'Computing', tokens: rowsCost(count, BINARY_ROWS) };
  const { put_call: callPut, ...inputs } = columns;
  const answer = new Float64Array(GREEKS.length * count);
  const into = Object.fromEntries(
    GREEKS.map((name, i) => [name, answer.subarray(i * count, (i + 1) * count)]),
  ) as Record<GreekName, Float64Array>;
  greeks({ count, callPut, ...inputs }, undefined, into);
  if (given !== 'raw') inMarketUnits(into, into);
  return new Uint8Array(answer.buffer);
}

/** Computes price and Greeks of many options in columns. Each row equals, to the bit, the answer to a single request for that option. */
export const computeGreeksBatch = defineOperation({
  name: 'compute_greeks_batch',
  title: 'Option Greeks in columns',
  page: {
    absent: 'It takes columns of thousands of options from a program. The form of Option Greeks asks for one option.',
  },
  description:
    `Price and Greeks of up to ${COLUMN_ROWS_MAX} European options, Black-Scholes-Merton with continuous dividend yield. Each field is an ` +
    'array, all of equal length, or one value for all rows.',
  example: { put_call: ['C', 'P'], spot: 100, strike: [105, 95], tte: 0.25, iv: [0.22, 0.25] },
  input: table({
    put_call: column(putCall),
    spot: column(spot),
    strike: column(strike),
    tte: column(tte),
    iv: column(iv),
    rate: defaulted(column(rate), 0.04),
    dividend: defaulted(column(dividendYield), 0),
    units: defaulted(units, 'market'),
  }),
  full,
  rest: {
    method: 'POST',
    path: '/api/v1/physics/greeks/batch',
    bodyBytesMax: COLUMNS_BYTES_MAX,
    binary: { inputs: Object.keys(BINARY_INPUTS), answers: GREEKS, compute: greeksOfBinary },
  },
  run(input) {
    const count = rowCount(input);
    const columns = Object.fromEntries(GREEKS.map((name) => [name, new Array<number>(count)])) as GreekArrays;
    const compute = (from: number, to: number) => {
      const raw = greeks({
        count: to - from,
        callPut: sides(input.put_call, from, to),
        spot: numbers(input.spot, from, to),
        strike: numbers(input.strike, from, to),
        tte: numbers(input.tte, from, to),
        iv: numbers(input.iv, from, to),
        rate: numbers(input.rate, from, to),
        dividend: numbers(input.dividend, from, to),
      });
      const values = input.units === 'raw' ? raw : inMarketUnits(raw);
      for (const name of GREEKS) {
        const [into, column] = [columns[name], values[name]];
        for (let i = from; i < to; i++) into[i] = column[i - from]!;
      }
    };
    return byRows(count, compute, () => ({ result: { count, units: input.units, ...columns } }));
  },
});

type GreekArrays = Record<(typeof GREEKS)[number], number[]>;
