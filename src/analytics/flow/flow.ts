import type { Chain } from '../../market/chain.ts';
import { rootOf } from '../../market/option-symbol.ts';
import { isDeep, type Print, type PrintSum, premiumOf } from '../../market/prints.ts';
import { tradedPrice } from '../chain/quotes.ts';

/** Premium and contracts of one expiry's flow, separately for calls and puts. */
export interface Flow {
  /** Premium of calls, dollars. */
  readonly callPremium: number;
  /** Premium of puts, dollars. */
  readonly putPremium: number;
  readonly callContracts: number;
  readonly putContracts: number;
  /** Premium of deep calls and puts (see `isDeep`), dollars, which counts as financing. Unknown deltas are not deep. */
  readonly deepPremium: number;
  /** The number of large prints. If the flow comes from snapshots, each contract with a volume and a price above 0 counts once per day. */
  readonly counted: number;
}

/** The number of calendar days over which flow is summed. */
export const FLOW_WINDOW_DAYS = 30;

/** Returns the prints with a premium of at least `minPremiumUsd`. Leaves out canceled prints and contracts with an adjusted deliverable. */
export function largePrints(prints: readonly Print[], minPremiumUsd: number): Print[] {
  return prints.filter((print) => !print.canceled && !rootOf(print.root).adjusted && premiumOf(print) >= minPremiumUsd);
}

/** Computes the flow of one expiry from sums of large prints. */
export function flowOfPrints(large: readonly PrintSum[], expiry: string): Flow {
  const flow = { ...NO_FLOW };
  for (const each of large) if (each.expiry === expiry) add(flow, each, each.prints);
  return flow;
}

/**
 * Adds the flow of a day to `flows`, by expiry, for feeds that deliver only snapshots: volumes and prices of the day's last snapshot (see
 * `tradedPrice`). Leaves out adjusted series. No minimum premium applies, because snapshots contain no single trades.
 */
export function addDay(flows: Map<string, Flow>, chain: Chain): void {
  for (const { adjusted, expiry, start, end } of chain.series) {
    if (adjusted) continue;
    const flow = { ...(flows.get(expiry) ?? NO_FLOW) };
    for (let row = start; row < end; row++) {
      const [contracts, price] = [chain.volume[row]!, tradedPrice(chain, row)];
      if (!(contracts > 0 && price > 0)) continue;
      const premium = contracts * price * chain.multiplier[row]!;
      add(flow, { callPut: chain.callPut[row]!, premium, contracts, deep: isDeep(chain.delta[row]!) }, 1);
    }
    flows.set(expiry, flow);
  }
}

/** Returns the premium of large prints by `ROOT EXPIRY`, without legs of spreads and deep prints, which are no opinions about the price. */
export function directionalPremium(large: readonly PrintSum[]): Map<string, number> {
  const bySeries = new Map<string, number>();
  for (const { root, expiry, multiLeg, deep, premium } of large) {
    if (multiLeg || deep) continue;
    const key = `${root} ${expiry}`;
    bySeries.set(key, (bySeries.get(key) ?? 0) + premium);
  }
  return bySeries;
}

type Traded = Readonly<{ callPut: number; premium: number; contracts: number; deep: boolean }>;

export const NO_FLOW: Flow = {
  callPremium: 0,
  putPremium: 0,
  callContracts: 0,
  putContracts: 0,
  deepPremium: 0,
  counted: 0,
};

function add(
  flow: { -readonly [Field in keyof Flow]: number },
  { callPut, premium, contracts, deep }: Traded,
  counted: number,
): void {
  flow.counted += counted;
  if (deep) flow.deepPremium += premium;
  if (callPut === 1) {
    flow.callPremium += premium;
    flow.callContracts += contracts;
  } else {
    flow.putPremium += premium;
    flow.putContracts += contracts;
  }
}
