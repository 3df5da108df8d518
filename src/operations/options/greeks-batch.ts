import { ClientError } from '../../core/errors.ts';
import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import { GREEKS, greeks, inMarketUnits } from '../../math/black-scholes.ts';
import {
  binaryColumns,
  byRows,
  COLUMN_ROWS_MAX,
  COLUMNS_BYTES_MAX,
  carryColumns,
  column,
  contractColumns,
  numbers,
  optionRows,
  rowCount,
  SIDE,
  table,
} from '../engine/column-arguments.ts';
import { defineOperation } from '../engine/operation.ts';
import { BINARY_ROWS, rowsCost } from '../engine/request-cost.ts';
import { defaulted, integerField, objectOf, oneOf } from '../engine/schemas.ts';
import { dividendYield, iv, putCall, rate, spot, strike, tte } from '../engine/shared-fields.ts';
import { expectation } from '../engine/validate.ts';
import { float64Column } from '../engine/wrapped-schemas.ts';

const units = oneOf(
  ['market', 'raw'],
  'market: vega and vanna per vol point (0.01), volga as the change of this vega per vol point, theta and charm per calendar day ' +
    '(1/365 year), rho per 1 % of rate. raw: partial derivatives per 1.00 of spot, volatility or rate, and per year of time.',
);

const full = objectOf({
  count: integerField('Rows of the answer: the length of each array.'),
  units,
  price: float64Column('Model price, dollars.'),
  delta: float64Column('Change of price per 1.00 of spot, dollars.'),
  gamma: float64Column('Change of delta per 1.00 of spot.'),
  vega: float64Column('Change of price per vol point (raw: per 1.00 of volatility), dollars.'),
  theta: float64Column('Change of price per calendar day (raw: per year) that passes, dollars.'),
  rho: float64Column('Change of price per 1 % of rate (raw: per 1.00 of rate), dollars.'),
  vanna: float64Column('Change of delta per vol point (raw: per 1.00 of volatility).'),
  charm: float64Column('Change of delta per calendar day (raw: per year) that passes.'),
  volga: float64Column(
    'Change of vega, in the unit of vega above, per vol point (raw: per 1.00 of volatility); also called vomma.',
  ),
});

/** The columns of a request's binary body, in order. */
const BINARY_INPUTS = { put_call: SIDE, spot, strike, tte, iv, rate, dividend: dividendYield };

/** Computes the Greeks of a binary body. The answer has the same layout, with the columns of GREEKS. */
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
  const into = recordOf(GREEKS, (name) => answer.subarray(GREEKS.indexOf(name) * count).subarray(0, count));
  greeks({ count, callPut, ...inputs }, undefined, into);
  if (given !== 'raw') inMarketUnits(into, into);
  return new Uint8Array(answer.buffer);
}

/** Computes prices and Greeks of many options in columns. A row has exactly the numbers of a request for its option alone. */
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
    ...contractColumns,
    iv: column(iv),
    ...carryColumns,
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
    const columns = recordOf(GREEKS, () => new Float64Array(count));
    const compute = (from: number, to: number) => {
      const into = recordOf(GREEKS, (name) => columns[name].subarray(from, to));
      greeks({ ...optionRows(input, from, to), iv: numbers(input.iv, from, to) }, undefined, into);
      if (input.units !== 'raw') inMarketUnits(into, into);
    };
    return byRows(count, compute, () => ({ result: { count, units: input.units, ...columns } }));
  },
});
