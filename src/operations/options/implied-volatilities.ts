import { Type } from '@sinclair/typebox';
import { impliedVolatility } from '../../math/implied-volatility.ts';
import {
  byRows,
  COLUMN_ROWS_MAX,
  COLUMNS_BYTES_MAX,
  carryColumns,
  column,
  contractColumns,
  numbers,
  optionRows,
  rowCount,
  table,
} from '../engine/column-arguments.ts';
import { defineOperation } from '../engine/operation.ts';
import { integerField, objectOf, oneOf } from '../engine/schemas.ts';
import { optionPrice, putCall } from '../engine/shared-fields.ts';
import { float64Column } from '../engine/wrapped-schemas.ts';

const STATUSES = ['ok', 'at_or_below_intrinsic', 'at_or_above_cap'] as const;

const status = oneOf(
  STATUSES,
  'ok, or why no volatility gives the price. at_or_below_intrinsic: the price is at or below the discounted intrinsic value; ' +
    'at_or_above_cap: the price is at or above the largest possible value, spot e^(-dividend tte) for a call and strike e^(-rate tte) for a put.',
);

/** Computes the implied volatilities of many prices in columns. If a row has no volatility, its status states the reason. */
export const solveImpliedVolatilities = defineOperation({
  name: 'solve_implied_volatilities',
  title: 'Implied volatilities in columns',
  page: { absent: 'It takes columns of thousands of options from a program.' },
  description:
    `Implied volatilities (Black-Scholes-Merton) of up to ${COLUMN_ROWS_MAX} European options. Each field is an array, all of equal length, or ` +
    'one value for all rows. If no volatility gives the price of a row, its iv is 0, and its status says why.',
  example: { put_call: 'C', price: [4.2, 2.9], spot: 100, strike: [100, 105], tte: 0.25 },
  input: table({
    put_call: column(putCall),
    price: column(optionPrice),
    ...contractColumns,
    ...carryColumns,
  }),
  full: objectOf({
    count: integerField('Rows of the answer: the length of each array.'),
    iv: float64Column('Implied volatility, decimal per year: 0.22 is 22 %; 0 if status is not ok.'),
    status: Type.Array(status, { description: status.description! }),
  }),
  rest: { method: 'POST', path: '/api/v1/physics/iv', bodyBytesMax: COLUMNS_BYTES_MAX },
  run(input) {
    const count = rowCount(input);
    const iv = new Float64Array(count);
    const statuses = new Array<Status>(count);
    const compute = (from: number, to: number) => {
      const solved = impliedVolatility({ ...optionRows(input, from, to), price: numbers(input.price, from, to) });
      for (let i = from; i < to; i++) {
        const rowStatus = statusOf(solved[i - from]!);
        statuses[i] = rowStatus;
        iv[i] = rowStatus === 'ok' ? solved[i - from]! : 0;
      }
    };
    return byRows(count, compute, () => ({ result: { count, iv, status: statuses } }));
  },
});

type Status = (typeof STATUSES)[number];

/** Returns the status of a kernel's result. If the arguments are valid, NaN means that the price is at or above its upper bound. */
function statusOf(iv: number): Status {
  if (iv > 0) return 'ok';
  return iv === 0 ? 'at_or_below_intrinsic' : 'at_or_above_cap';
}
