import type { Steps } from '../../core/steps.ts';
import { impliedVolatility } from '../../math/implied-volatility.ts';
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
import { dividendYield, optionPrice, putCall, rate, spot, strike, tteFromZero } from '../engine/shared-fields.ts';
import { columnOf, float64OrNullColumn } from '../engine/wrapped-schemas.ts';

/** The columns of a request's binary body, in order. */
const BINARY_INPUTS = {
  ...{ put_call: SIDE, price: optionPrice, spot, strike },
  ...{ tte: tteFromZero, rate, dividend: dividendYield },
};

/** The statuses of rows. In binary columns, a status is its position. */
const STATUSES = [
  ...(['ok', 'at_or_below_intrinsic', 'at_or_above_cap', 'expired'] as const),
  ...invalidStatuses(BINARY_INPUTS),
] as const;
const [OK, BELOW, ABOVE, EXPIRED, FIRST_INVALID] = [0, 1, 2, 3, 4] as const;

const status = oneOf(
  STATUSES,
  'ok, or why the row has no volatility. at_or_below_intrinsic: the price is at or below the discounted intrinsic value; ' +
    'at_or_above_cap: the price is at or above the largest possible value, spot e^(-dividend tte) for a call and strike e^(-rate tte) for a put; ' +
    'expired: tte is 0, so the price does not depend on the volatility. The others name the first argument of the row that is not valid.',
);

const withoutIv = oneOf(
  ['null', 'zero'],
  'What iv is in a row without a volatility. zero is the form of version 0.2, which ends with version 0.3.',
);

/** Computes the implied volatilities of many prices in columns. If a row has no volatility, its status states the reason. */
export const solveImpliedVolatilities = defineOperation({
  name: 'solve_implied_volatilities',
  title: 'Implied volatilities in columns',
  page: { absent: 'It takes columns of thousands of options from a program.' },
  description:
    `Implied volatilities (Black-Scholes-Merton) of up to ${COLUMN_ROWS_MAX} European options. Each field is an array, all of equal length, or ` +
    'one value for all rows. If no volatility gives the price of a row, its iv is null, and its status says why.',
  example: { put_call: 'C', price: [4.2, 2.9], spot: 100, strike: [100, 105], tte: 0.25 },
  input: table({
    put_call: column(putCall),
    price: column(optionPrice),
    ...contractColumns,
    ...carryColumns,
    on_error: onError,
    without_iv: defaulted(withoutIv, 'null'),
  }),
  full: objectOf({
    count: integerField('Rows of the answer: the length of each array.'),
    iv: float64OrNullColumn('Implied volatility, decimal per year: 0.22 is 22 %; null if status is not ok.'),
    status: columnOf(status, status.description!),
  }),
  rest: {
    method: 'POST',
    path: '/api/v1/physics/iv',
    bodyBytesMax: COLUMNS_BYTES_MAX,
    binary: {
      inputs: Object.keys(BINARY_INPUTS),
      answers: ['iv', `status (${STATUSES.map((each, code) => `${code} ${each}`).join(', ')})`],
      parameters: ['on_error'],
      compute: volatilitiesOfBinary,
    },
  },
  run(input) {
    const count = rowCount(input);
    const iv = new Float64Array(count);
    const statuses = faultsOf(count, input, BINARY_INPUTS, FIRST_INVALID);
    const compute = (from: number, to: number) => {
      const solved = impliedVolatility({ ...optionRows(input, from, to), price: numbers(input.price, from, to) });
      iv.set(solved, from);
      judge(iv, statuses, from, to, (row) => cell(input.tte, row));
    };
    return byRows(count, compute, () => {
      if (input.without_iv === 'zero') for (let row = 0; row < count; row++) if (statuses[row] !== OK) iv[row] = 0;
      return { result: { count, iv, status: Array.from(statuses, (code) => STATUSES[code]!) } };
    });
  },
});

/** Computes the volatilities of a binary body. The answer has two columns: the volatilities, with NaN for a row without one, and the statuses. */
function* volatilitiesOfBinary(body: ArrayBuffer, options: Readonly<Record<string, unknown>>): Steps<Uint8Array> {
  const { count, columns } = binaryColumns(body, BINARY_INPUTS, options.on_error === 'row');
  yield { message: 'Computing', tokens: rowsCost(count, BINARY_ROWS) };
  const { put_call: callPut, ...inputs } = columns;
  const answer = new Float64Array(2 * count);
  answer.set(impliedVolatility({ count, callPut, ...inputs }));
  const statuses = faultsOf(count, columns, BINARY_INPUTS, FIRST_INVALID);
  judge(answer, statuses, 0, count, (row) => columns.tte[row]!);
  answer.set(statuses, count);
  return new Uint8Array(answer.buffer);
}

const cell = (given: number | ArrayLike<number>, row: number) => (typeof given === 'number' ? given : given[row]!);

/**
 * Sets the status of each row [from, to) that is still ok from the kernel's result in `iv`, and the result of rows that are not ok to NaN.
 * If the arguments are valid and tte is above 0, NaN means that the price is at or above its upper bound.
 */
function judge(iv: Float64Array, statuses: Uint8Array, from: number, to: number, tteOf: (row: number) => number): void {
  for (let row = from; row < to; row++) {
    const solved = iv[row]!;
    if (statuses[row] === OK && !(solved > 0)) {
      statuses[row] = tteOf(row) === 0 ? EXPIRED : solved === 0 ? BELOW : ABOVE;
    }
    if (statuses[row] !== OK) iv[row] = Number.NaN;
  }
}
