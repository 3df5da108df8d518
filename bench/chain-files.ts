import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../src/market/chain.ts';
import { indexChain } from './index-chain.ts';

/** Tickers of the chains that `putChains` writes. `beside` has the same date as `name`. */
export const CHAINS = { index: 'SPX', name: 'TSLA', beside: 'AAPL' } as const;

const RECORDED = {
  index: 'cboe/SPX-2022-12-12.quotedata.csv',
  name: 'chains/TSLA-2026-08-21.csv',
  beside: 'chains/AAPL-2026-08-21.csv',
} as const;
/** Expiries and strikes of the chains that are generated, which have as many contracts as the recorded ones. */
const SIZES = { index: [49, 195], name: [20, 100], beside: [20, 60] } as const;

/** States which chains `putChains` writes. */
export const CHAINS_ARE = process.env.ZOMMA_RECORDED_CHAINS
  ? 'recorded chains: SPX of 2022-12-12 as an index, TSLA of 2026-08-21 as a name'
  : 'generated chains, because ZOMMA_RECORDED_CHAINS is unset';

/** Writes the recorded chain to a folder if ZOMMA_RECORDED_CHAINS is set. Otherwise writes a generated one. Returns its path. */
export function putChain(folder: string, which: keyof typeof CHAINS): string {
  const path = join(folder, `${CHAINS[which]}.csv`);
  const recorded = process.env.ZOMMA_RECORDED_CHAINS;
  if (recorded) copyFileSync(join(recorded, RECORDED[which]), path);
  else {
    const chain = indexChain(SIZES[which][0], SIZES[which][1]);
    writeFileSync(path, csvOf({ ...chain, underlying: CHAINS[which] }, chain.asOf));
  }
  return path;
}

/** Returns a chain as the text of a CSV file, with `at` as the moment of its quotes. */
export function csvOf(chain: Chain, at: number): string {
  const head = `${chain.underlying},${new Date(at).toISOString()},${chain.spot}`;
  const lines = ['underlying,as_of,spot,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma'];
  const text = (value: number) => (Number.isNaN(value) ? '' : String(value));
  for (let row = 0; row < chain.count; row++) {
    const { expiry } = chain.series[chain.seriesIndex[row]!]!;
    const columns = [
      chain.bid,
      chain.ask,
      chain.last,
      chain.volume,
      chain.openInterest,
      chain.iv,
      chain.delta,
      chain.gamma,
    ];
    const cells = columns.map((column) => text(column[row]!));
    lines.push([head, expiry, chain.callPut[row] === 1 ? 'C' : 'P', chain.strike[row], ...cells].join(','));
  }
  return `${lines.join('\n')}\n`;
}
