import { Type } from '@sinclair/typebox';
import { requireWeights } from '../../analytics/chain/prepare.ts';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { inOrderOfSettlement } from '../../analytics/chain/rows.ts';
import { type ExposureSums, exposureMatrix } from '../../analytics/exposure/exposures-by-strike.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, defaulted, number, objectOf, oneOf, wordField } from '../engine/schemas.ts';
import { crossOf, dateColumn, numberColumn, textColumn } from '../engine/wrapped-schemas.ts';
import { answerChain, chainInput } from '../reading/analysis-options.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { headFields, reportHead } from '../reading/market-reading.ts';
import { settlementColumn } from '../reading/market-words.ts';
import { charmNotes } from './charm.ts';

const MEASURES = ['gamma', 'delta', 'vanna', 'charm', 'open_interest', 'volume'] as const;
type Measure = (typeof MEASURES)[number];

/** Maximum distance of the strikes from spot, percent of spot. */
const BAND = { default: 20, minimum: 1, maximum: 100 };

const UNIT = 'dollars (gamma per 1 % move, vanna per vol point, charm over the coming calendar day) or contracts';

export const getGexMatrix = defineOperation({
  name: 'get_gex_matrix',
  ofMarket: true,
  title: 'GEX by strike and expiry',
  page: 'expiries',
  description:
    'A dealer exposure, open interest or volume of each series (root and expiry) at each strike near spot, as a matrix, with the sums of its ' +
    'rows and columns and of the strikes outside. Dealers are assumed long calls and short puts. With sign=flow, they hold the opposite of ' +
    'what customers bought and sold, by prints. Dollars.',
  example: { ticker: 'SPY', measure: 'gamma' },
  input: objectOf({
    ...chainInput.properties,
    measure: defaulted(
      oneOf(
        MEASURES,
        'Value of a cell. gamma, delta, vanna, charm: net exposure of calls and puts; open_interest, volume: number of contracts.',
      ),
      'gamma',
    ),
    band: defaulted(
      Type.Number({
        description: 'Distance of the outermost strikes from spot, percent of spot.',
        minimum: BAND.minimum,
        maximum: BAND.maximum,
      }),
      BAND.default,
    ),
  }),
  full: objectOf({
    ...headFields,
    measure: wordField(MEASURES, 'The argument measure.'),
    band: number('The argument band, percent of spot.'),
    count: count('Rows of strike, by_strike and each list of values.'),
    series_count: count('Rows of root, expiry, settlement, by_expiry and values.'),
    strike: numberColumn('Strikes within the band, ascending, dollars.', 'strikes'),
    root: textColumn('OSI root of each series, in order of settlement.', 'series'),
    expiry: dateColumn('YYYY-MM-DD', 'series'),
    settlement: settlementColumn('series'),
    values: crossOf(
      `One list per series, with the value at each strike, ${UNIT}; null if the series has no live contract with this strike.`,
      { outer: ['root', 'expiry', 'settlement'], inner: ['strike'], value: 'value' },
    ),
    by_strike: numberColumn(`Sum over all series at each strike, ${UNIT}.`, 'strikes'),
    by_expiry: numberColumn(`Sum over all strikes of each series, also those outside the band, ${UNIT}.`, 'series'),
    within_band: number(`Sum of all values, ${UNIT}.`),
    left_out: number(`Sum over the strikes outside the band, ${UNIT}.`),
    strikes_left_out: count('Number of strikes with a greater distance from spot.'),
    sign_convention: signConvention,
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/matrix' },
  run: (input, context) =>
    answerChain(
      input,
      context,
      (prepared) => matrixOf(prepared, input.measure, input.band),
      input.measure === 'charm' ? charmNotes : undefined,
    ),
});

function* matrixOf(prepared: PreparedChain, measure: Measure, band: number) {
  const { chain, options, sign } = prepared;
  if (measure === 'open_interest') requireWeights({ chain, options: { ...options, weight: measure }, sign });
  const { strike, seriesOfCell, strikeOfCell, sums } = yield* exposureMatrix(prepared);
  yield { message: 'Filling the matrix' };
  const isInside = (each: number) => 100 * Math.abs(each - chain.spot) <= band * chain.spot;
  const from = strike.findIndex(isInside);
  const inside = from < 0 ? [] : [...strike.subarray(from, strike.findLastIndex(isInside) + 1)];
  const series = inOrderOfSettlement(prepared.series);
  const rowOfSeries = prepared.series.map((each) => series.indexOf(each));
  const values = series.map(() => new Array<number | null>(inside.length).fill(null));
  const byStrike = inside.map(() => 0);
  const byExpiry = series.map(() => 0);
  let [withinBand, leftOut] = [0, 0];
  const valueOfCell = COLUMNS[measure](sums);
  for (let cell = 0; cell < strikeOfCell.length; cell++) {
    const value = valueOfCell[cell]!;
    const [row, column] = [rowOfSeries[seriesOfCell[cell]!]!, strikeOfCell[cell]! - from];
    // A sum within the band alone can have the opposite sign, because far strikes of a late expiry have much of its gamma.
    byExpiry[row]! += value;
    if (column < 0 || column >= inside.length) {
      leftOut += value;
      continue;
    }
    values[row]![column] = value;
    byStrike[column]! += value;
    withinBand += value;
  }
  return {
    ...reportHead(chain),
    measure,
    band,
    count: inside.length,
    series_count: series.length,
    strike: inside,
    root: series.map((each) => each.series.root),
    expiry: series.map((each) => each.series.expiry),
    settlement: series.map((each) => each.series.settlement as string),
    values,
    by_strike: byStrike,
    by_expiry: byExpiry,
    within_band: withinBand,
    left_out: leftOut,
    strikes_left_out: strike.length - inside.length,
    sign_convention: conventionOf(prepared),
  };
}

/** Functions that return the column of each measure. */
const COLUMNS: Record<Measure, (sums: ExposureSums) => Float64Array> = {
  gamma: ({ netGex }) => netGex,
  delta: ({ dex }) => dex,
  vanna: ({ vex }) => vex,
  charm: ({ cex }) => cex,
  open_interest: ({ callOpenInterest, putOpenInterest }) => plus(callOpenInterest, putOpenInterest),
  volume: ({ callVolume, putVolume }) => plus(callVolume, putVolume),
};

function plus(one: Float64Array, other: Float64Array): Float64Array {
  return one.map((each, i) => each + other[i]!);
}
