import type { Chain } from '../../market/chain.ts';
import { isOpinion } from './forward.ts';
import { pick } from './pick.ts';
import type { Pairs } from './prepared-chain.ts';
import { smilesOf } from './strike-smiles.ts';
import { type SeriesInput, type Strikes, strikesOf } from './strikes.ts';
import type { Volatilities } from './volatility.ts';

const NONE: ReadonlySet<number> = new Set();

/** Each contract's volatility as the feed gives it, untested; the smile is that of the sides out of the money. */
export function ownVolatilities(chain: Chain, inputs: readonly SeriesInput[]): Volatilities {
  const strikes = strikesOf(chain, inputs);
  const given = chain.iv.map((iv) => (isOpinion(iv) ? iv : Number.NaN));
  const iv = new Float64Array(strikes.contracts[strikes.count]!);
  let start = 0;
  for (const { series } of inputs) {
    iv.set(given.subarray(series.start, series.end), start);
    start += series.end - series.start;
  }
  const ofStrikes = Float64Array.from(strikes.otmRow, (row) => given[row] ?? Number.NaN);
  return {
    iv,
    pairs: alike(strikes, iv),
    smiles: smilesOf(chain, inputs, strikes, ofStrikes, NONE),
    counts: { taken: iv.filter((each) => !Number.isNaN(each)).length, solved: 0, interpolated: 0, extended: 0 },
    staleQuotes: 0,
  };
}

/** Call and put of a strike are a pair where their volatilities happen to be the same. */
function alike(strikes: Strikes, iv: Float64Array): Pairs {
  const contracts = new Uint32Array(iv.length + 1);
  const row = new Uint32Array(iv.length);
  let count = 0;
  for (let at = 0; at < strikes.count; at++) {
    const [first, end] = [strikes.contracts[at]!, strikes.contracts[at + 1]!];
    for (let contract = first; contract < end; contract++) {
      if (contract > first && iv[contract] === iv[contract - 1]) continue;
      contracts[count] = contract;
      row[count++] = at;
    }
  }
  contracts[count] = iv.length;
  const rows = row.subarray(0, count);
  return {
    count,
    contracts: contracts.subarray(0, count + 1),
    strike: pick(strikes.strike, rows),
    tte: pick(strikes.tte, rows),
    iv: pick(iv, contracts.subarray(0, count)),
    rate: pick(strikes.rate, rows),
    dividend: pick(strikes.dividend, rows),
  };
}
