import { randomUUID } from 'node:crypto';
import { indexChain } from '../../../bench/index-chain.ts';
import { generator } from '../../../src/bench/workloads.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Print } from '../../../src/market/prints.ts';
import { openAccess, openData } from '../../../src/server/stored-data.ts';

/** Tickers of the stored market: one with a tape and a chain of its contracts, an index, and one with a chain close to the maximum size. */
export const TAPED = 'SPY';
export const INDEX = 'SPX';
export const WIDE = 'QQQ';

export interface MarketSize {
  readonly prints: number;
  readonly indexContracts: number;
  readonly wideContracts: number;
}

/** Fills a data folder. Returns the keys of this many members. */
export async function storeMarket(dataDir: string, size: MarketSize, members: number): Promise<string[]> {
  const store = openData(dataDir);
  try {
    const taped = named(TAPED, indexChain(8, 60));
    for (const chain of [taped, named(INDEX, indexChain(50, size.indexContracts / 100))]) store.saveChain(chain);
    store.saveChain(named(WIDE, indexChain(95, Math.floor(size.wideContracts / 190))));
    for (let from = 0; from < size.prints; from += BATCH) {
      store.transaction(() => store.savePrints(prints(taped, from, Math.min(size.prints, from + BATCH))));
    }
    const access = openAccess(store, dataDir);
    const keyOf = async () => (await access.addMember({ uuid: randomUUID() })).apiKey;
    return await Promise.all(Array.from({ length: members }, keyOf));
  } finally {
    store.close();
  }
}

const BATCH = 10_000;
const TAPE_MS = 6.5 * 3_600_000;

function named(underlying: string, chain: Chain): Chain {
  return { ...chain, underlying, simulated: false, source: 'made up', series: chain.series };
}

/** Returns trades of a chain's contracts over the hours before its snapshot. */
function prints(chain: Chain, from: number, to: number): Print[] {
  const random = generator(from + 1);
  return Array.from({ length: to - from }, (_, i) => {
    const row = Math.floor(chain.count * random());
    const series = chain.series.find(({ end }) => row < end)!;
    const bid = chain.bid[row]!;
    const ask = Math.max(chain.ask[row]!, bid + 0.05);
    return {
      id: `print ${from + i}`,
      at: Math.floor(chain.asOf - TAPE_MS * (1 - (from + i) / 1e7)),
      underlying: chain.underlying,
      root: series.root,
      expiry: series.expiry,
      callPut: chain.callPut[row] === 1 ? 1 : -1,
      strike: chain.strike[row]!,
      price: random() < 0.5 ? bid + 0.01 : ask,
      size: 1 + Math.floor(50 * random()),
      bid,
      ask,
      multiplier: 100,
      ...{ side: null, delta: null, multiLeg: false, sweep: false, block: false, canceled: false, simulated: false },
    };
  });
}
