import type { ContractRow } from '../market/build-chain.ts';
import { settlementInstant } from '../market/calendar.ts';
import { settlementOf } from '../market/option-symbol.ts';
import { unreadable } from './rejections.ts';

/**
 * Maximum ratio of the given spot to the implied spot, and the reverse. Beyond it, the given spot is wrong or of another underlying. A
 * volatility index may be twice its forward.
 */
const CONTRADICTION_RATIO = 3;

/** Returns the given spot, or else the implied spot, or NaN. Throws a `ClientError` if the given spot contradicts the implied spot. */
export function spotOf(given: number | undefined, rows: readonly ContractRow[], asOf: number): number {
  const implied = impliedSpot(rows, asOf);
  if (given === undefined) return implied;
  if (Math.max(given / implied, implied / given) > CONTRADICTION_RATIO) {
    throw unreadable(`spot ${given} contradicts the quotes, which imply ${implied.toPrecision(5)}`);
  }
  return given;
}

/**
 * Returns the spot that the quotes imply, or NaN. By put-call parity, a pair implies its strike, plus the mid of the call, minus the mid of
 * the put. The result is the median of the pairs nearest the money in the first expiry with pairs, where interest and dividends have less
 * effect than the spread.
 */
function impliedSpot(rows: readonly ContractRow[], asOf: number): number {
  const byExpiry = Map.groupBy(rows, ({ expiry }) => expiry);
  for (const expiry of [...byExpiry.keys()].sort()) {
    // All rows here have the same expiry, so only the root determines whether settlement is in the morning or at the close.
    const settles = new Map<string, number>();
    const isUnsettled = ({ root }: ContractRow) => {
      if (!settles.has(root)) settles.set(root, settlementInstant(expiry, settlementOf(root)));
      return settles.get(root)! > asOf;
    };
    const pairs = pairsOf(byExpiry.get(expiry)!.filter(isUnsettled));
    if (pairs.length === 0) continue;
    const nearest = pairs.sort((a, b) => Math.abs(a.gap) - Math.abs(b.gap)).slice(0, PAIRS_USED);
    const spots = nearest.map((pair) => pair.strike + pair.gap).sort((a, b) => a - b);
    return spots[Math.floor(spots.length / 2)] ?? Number.NaN;
  }
  return Number.NaN;
}

/** Maximum number of pairs from which the implied spot is computed. */
const PAIRS_USED = 5;

/** Returns the strikes at which the call and the put of a root both have a bid and an ask. `gap` is the call's mid minus the put's mid. */
function pairsOf(rows: readonly ContractRow[]): { strike: number; gap: number }[] {
  const [calls, puts] = [midsOf(rows, 1), midsOf(rows, -1)];
  return rows.flatMap(({ root, strike, callPut }) => {
    const call = callPut === 1 ? calls.get(root)?.get(strike) : undefined;
    const put = puts.get(root)?.get(strike);
    return call === undefined || put === undefined ? [] : [{ strike, gap: call - put }];
  });
}

/** Returns the mids of all calls (1) or puts (-1) with a bid and an ask, by root and strike. */
function midsOf(rows: readonly ContractRow[], side: 1 | -1): Map<string, Map<number, number>> {
  const mids = new Map<string, Map<number, number>>();
  for (const { root, strike, callPut, bid, ask } of rows) {
    if (callPut !== side || !(bid > 0 && ask >= bid && Number.isFinite(ask))) continue;
    mids.getOrInsertComputed(root, () => new Map()).set(strike, (bid + ask) / 2);
  }
  return mids;
}
