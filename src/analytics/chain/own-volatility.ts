import { recordOf } from '../../core/record-of.ts';
import { byRange, type Steps } from '../../core/steps.ts';
import type { Chain } from '../../market/chain.ts';
import { isPlausibleIv } from './forward.ts';
import type { Pairs, Smile } from './prepared-chain.ts';
import { bySeries, rowsOfColumn } from './rows.ts';
import { pairStrikes, type SeriesInput, type StrikePairs, smileOf } from './strikes.ts';
import type { Volatilities } from './volatility.ts';

const NONE: ReadonlySet<number> = new Set();

/** The number of strikes that one step handles. */
const STEP_STRIKES = 32_768;

/**
 * Takes each contract's volatility from the feed if the volatility is plausible. The function does not compare the volatility with the
 * quote. The smile uses the volatilities of the out-of-the-money sides.
 */
export function* ownVolatilities(chain: Chain, inputs: readonly SeriesInput[]): Steps<Volatilities> {
  const strikes = yield* pairStrikes(chain, inputs, 'Reading volatilities');
  const feedIv = (row: number) => (row >= 0 && isPlausibleIv(chain.iv[row]!) ? chain.iv[row]! : Number.NaN);
  const iv = new Float64Array(strikes.contracts[strikes.count]!);
  const strikeIv = new Float64Array(strikes.count);
  const smiles: Smile[] = [];
  let taken = 0;
  yield* bySeries(inputs, 'Reading volatilities', (input, index) => {
    const { series, start, end } = input;
    for (let i = start; i < end; i++) {
      iv[i] = feedIv(series.start + i - start);
      if (!Number.isNaN(iv[i]!)) taken++;
    }
    for (let i = strikes.seriesStart[index]!; i < strikes.seriesStart[index + 1]!; i++) {
      strikeIv[i] = feedIv(strikes.otmRow[i]!);
    }
    smiles.push(smileOf(chain, input, index, strikes, strikeIv, NONE));
  });
  return {
    iv,
    pairs: yield* groupByVolatility(strikes, iv),
    smiles,
    counts: { taken, solved: 0, interpolated: 0, extended: 0 },
    staleQuotes: 0,
  };
}

/**
 * Returns the pairs. A call and a put of one strike form one pair if their volatilities are equal. If the volatilities differ, the call
 * forms one pair and the put forms another pair.
 */
function* groupByVolatility(strikes: StrikePairs, iv: Float64Array): Steps<Pairs> {
  const contracts = new Uint32Array(iv.length + 1);
  const row = new Uint32Array(iv.length);
  let count = 0;
  yield* byRange(strikes.count, STEP_STRIKES, 'Reading volatilities', (from, to) => {
    for (let i = from; i < to; i++) {
      const [start, end] = [strikes.contracts[i]!, strikes.contracts[i + 1]!];
      for (let contract = start; contract < end; contract++) {
        if (contract > start && iv[contract] === iv[contract - 1]) continue;
        contracts[count] = contract;
        row[count++] = i;
      }
    }
  });
  contracts[count] = iv.length;
  const rows = row.subarray(0, count);
  return {
    count,
    contracts: contracts.subarray(0, count + 1),
    ...recordOf(['strike', 'tte', 'rate', 'dividend'] as const, (name) => rowsOfColumn(strikes[name], rows)),
    iv: rowsOfColumn(iv, contracts.subarray(0, count)),
  };
}
