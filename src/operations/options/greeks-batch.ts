import { Type } from '@sinclair/typebox';
import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import { GREEKS, type GreekColumns, greeks, inMarketUnits } from '../../math/black-scholes.ts';
import {
  binaryColumns,
  byRows,
  COLUMN_ROWS_MAX,
  COLUMNS_BYTES_MAX,
  carryColumns,
  column,
  contractColumns,
  faultsOf,
  invalidStatuses,
  numbers,
  onError,
  optionRows,
  rowCount,
  SIDE,
  table,
} from '../engine/column-arguments.ts';
import { defineOperation } from '../engine/operation.ts';
import { BINARY_ROWS, rowsCost } from '../engine/request-cost.ts';
import { defaulted, integerField, objectOf, oneOf } from '../engine/schemas.ts';
import { dividendYield, ivFromZero, putCall, rate, spot, strike, tteFromZero } from '../engine/shared-fields.ts';
import { columnOf, float64OrNullColumn } from '../engine/wrapped-schemas.ts';

const units = oneOf(
  ['market', 'raw'],
  'market: vega and vanna per vol point (0.01), volga as the change of this vega per vol point, theta and charm per calendar day ' +
    '(1/365 year), rho per 1 % of rate. raw: partial derivatives per 1.00 of spot, volatility or rate, and per year of time.',
);

/** The columns of a request's binary body, in order. */
const BINARY_INPUTS = {
  ...{ put_call: SIDE, spot, strike, tte: tteFromZero },
  ...{ iv: ivFromZero, rate, dividend: dividendYield },
};

/** The statuses of rows. In binary columns, a status is its position. */
const STATUSES = ['ok', ...invalidStatuses(BINARY_INPUTS)] as const;

const status = oneOf(STATUSES, 'ok, or the first argument of the row that is not valid.');

const full = objectOf({
  count: integerField('Rows of the answer: the length of each array.'),
  units,
  price: float64OrNullColumn('Model price, dollars.'),
  delta: float64OrNullColumn('Change of price per 1.00 of spot, dollars.'),
  gamma: float64OrNullColumn('Change of delta per 1.00 of spot.'),
  vega: float64OrNullColumn('Change of price per vol point (raw: per 1.00 of volatility), dollars.'),
  theta: float64OrNullColumn('Change of price per calendar day (raw: per year) that passes, dollars.'),
  rho: float64OrNullColumn('Change of price per 1 % of rate (raw: per 1.00 of rate), dollars.'),
  vanna: float64OrNullColumn('Change of delta per vol point (raw: per 1.00 of volatility).'),
  charm: float64OrNullColumn('Change of delta per calendar day (raw: per year) that passes.'),
  volga: float64OrNullColumn(
    'Change of vega, in the unit of vega above, per vol point (raw: per 1.00 of volatility); also called vomma.',
  ),
  status: Type.Optional(columnOf(status, `Only with on_error=row. ${status.description}`)),
});

/** Computes the Greeks of a binary body. The answer has the same layout, with the columns of GREEKS and, row by row, the status. */
function* greeksOfBinary(body: ArrayBuffer, options: Readonly<Record<string, unknown>>): Steps<Uint8Array> {
  const isRowwise = options.on_error === 'row';
  const { count, columns } = binaryColumns(body, BINARY_INPUTS, isRowwise);
  yield { message: 'Computing', tokens: rowsCost(count, BINARY_ROWS) };
  const { put_call: callPut, ...inputs } = columns;
  const answer = new Float64Array((GREEKS.length + Number(isRowwise)) * count);
  const into = recordOf(GREEKS, (name) => answer.subarray(GREEKS.indexOf(name) * count).subarray(0, count));
  greeks({ count, callPut, ...inputs }, undefined, into);
  if (options.units !== 'raw') inMarketUnits(into, into);
  if (isRowwise) answer.set(judge(count, columns, into), GREEKS.length * count);
  return new Uint8Array(answer.buffer);
}

/** Returns the status of each row, and sets the results of rows that are not valid to NaN. The results of valid rows are finite. */
function judge(count: number, input: Readonly<Record<string, unknown>>, results: GreekColumns): Uint8Array {
  const statuses = faultsOf(count, input, BINARY_INPUTS, 1);
  for (let row = 0; row < count; row++) {
    if (statuses[row] !== 0) for (const name of GREEKS) results[name][row] = Number.NaN;
  }
  return statuses;
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
    iv: column(ivFromZero),
    ...carryColumns,
    units: defaulted(units, 'market'),
    on_error: onError,
  }),
  full,
  rest: {
    method: 'POST',
    path: '/api/v1/physics/greeks/batch',
    bodyBytesMax: COLUMNS_BYTES_MAX,
    binary: {
      inputs: Object.keys(BINARY_INPUTS),
      answers: [
        ...GREEKS,
        `with on_error=row also status (${STATUSES.map((each, code) => `${code} ${each}`).join(', ')})`,
      ],
      parameters: ['units', 'on_error'],
      compute: greeksOfBinary,
    },
  },
  run(input) {
    const count = rowCount(input);
    const columns = recordOf(GREEKS, () => new Float64Array(count));
    const compute = (from: number, to: number) => {
      const into = recordOf(GREEKS, (name) => columns[name].subarray(from, to));
      greeks({ ...optionRows(input, from, to), iv: numbers(input.iv, from, to) }, undefined, into);
      if (input.units !== 'raw') inMarketUnits(into, into);
    };
    return byRows(count, compute, () => {
      const status = input.on_error === 'row' && {
        status: Array.from(judge(count, input, columns), (code) => STATUSES[code]!),
      };
      return { result: { count, units: input.units, ...columns, ...status } };
    });
  },
});
