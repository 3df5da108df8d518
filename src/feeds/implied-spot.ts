import { settlementInstant, YEAR_MS } from '../market/calendar.ts';
import type { ContractBatch } from '../market/contract-batch.ts';
import { isIndexRoot, settlementOf } from '../market/option-symbol.ts';
import { unreadable } from './rejections.ts';

/**
 * Maximum ratio of the given spot to the implied spot, and the reverse. Beyond it, the given spot is wrong, or of another underlying or day. A
 * volatility index may be twice its forward.
 */
const [CONTRADICTION_RATIO, CONTRADICTION_RATIO_OF_INDEX] = [1.5, 3];

type Rows = readonly number[];

/** The share by which a spot may differ from the implied spot without a note, and what a year until the expiry adds for interest and dividends. */
const [NOTED_SHARE, NOTED_SHARE_OF_YEAR] = [0.03, 0.1];

/**
 * Returns the given spot, or else the spot that the rows imply. Adds a note to `notes` if the two differ much. Throws a `ClientError` if there is
 * neither, or if the given spot contradicts the implied one. `withoutSpot` replaces the reason for which there is neither.
 */
export function spotOf(
  given: number | undefined,
  contracts: ContractBatch,
  rows: Rows,
  asOf: number,
  notes: string[] = [],
  withoutSpot?: string,
): number {
  const { spot: implied, years } = impliedSpot(contracts, rows, asOf);
  if (given === undefined && Number.isNaN(implied)) throw unreadable(withoutSpot ?? whyNoSpot(contracts, rows));
  if (given === undefined) return implied;
  const root = rows.length > 0 ? contracts.series[rows[0]!]!.root : '';
  const most = isIndexRoot(root) ? CONTRADICTION_RATIO_OF_INDEX : CONTRADICTION_RATIO;
  if (Math.max(given / implied, implied / given) > most) {
    throw unreadable(`spot ${given} contradicts the quotes, which imply ${implied.toPrecision(5)}`);
  }
  const share = given / implied - 1;
  // The forward of a volatility index is not its spot.
  if (Math.abs(share) > NOTED_SHARE + NOTED_SHARE_OF_YEAR * years && !root.startsWith('VIX')) {
    const by = `${(100 * Math.abs(share)).toFixed(1)} % ${share > 0 ? 'above' : 'below'}`;
    notes.push(`spot ${Number(given.toPrecision(6))} is ${by} the ${implied.toPrecision(5)} that the quotes imply`);
  }
  return given;
}

function whyNoSpot({ columns }: ContractBatch, rows: Rows): string {
  const has = (column: 'bid' | 'ask') => rows.some((row) => columns[column][row]! > 0);
  const sides = new Set(rows.map((row) => columns.callPut[row]));
  const cause = !has('bid')
    ? 'the column of bids is missing, or has no bid above 0'
    : !has('ask')
      ? 'the column of asks is missing, or has no ask above 0'
      : sides.size === 1
        ? `it has only ${sides.has(1) ? 'calls' : 'puts'}`
        : 'at no strike, the call and the put of an expiry to come both have a bid and an ask';
  return `spot is not given, and the quotes imply none: ${cause}. A mapping may state spot`;
}

/**
 * Returns the spot that the quotes imply, or NaN, and the years until the expiry of these quotes. By put-call parity, a pair implies its strike, plus
 * the mid of the call, minus the mid of the put. The result is the median of the pairs nearest the money in the first expiry with pairs, where
 * interest and dividends have less effect than the spread.
 */
function impliedSpot(contracts: ContractBatch, rows: Rows, asOf: number): { spot: number; years: number } {
  const { series } = contracts;
  const byExpiry = new Map<string, number[]>();
  let last: readonly [expiry?: string, rows?: number[]] = [];
  for (const row of rows) {
    const { expiry } = series[row]!;
    if (expiry !== last[0]) last = [expiry, byExpiry.getOrInsertComputed(expiry, () => [])];
    last[1]!.push(row);
  }
  for (const expiry of [...byExpiry.keys()].sort()) {
    // All rows here have the same expiry, so only the root determines whether settlement is in the morning or at the close.
    const settles = new Map<string, number>();
    const isUnsettled = (row: number) => {
      const { root } = series[row]!;
      if (!settles.has(root)) settles.set(root, settlementInstant(expiry, settlementOf(root)));
      return settles.get(root)! > asOf;
    };
    const pairs = pairsOf(contracts, byExpiry.get(expiry)!.filter(isUnsettled));
    if (pairs.length === 0) continue;
    const nearest = pairs.sort((a, b) => Math.abs(a.gap) - Math.abs(b.gap)).slice(0, PAIRS_USED);
    const spots = nearest.map((pair) => pair.strike + pair.gap).sort((a, b) => a - b);
    const years = (Math.max(...settles.values()) - asOf) / YEAR_MS;
    return { spot: spots[Math.floor(spots.length / 2)] ?? Number.NaN, years };
  }
  return { spot: Number.NaN, years: 0 };
}

/** Maximum number of pairs from which the implied spot is computed. */
const PAIRS_USED = 5;

/** Returns the strikes at which the call and the put of a root both have a bid and an ask. `gap` is the call's mid minus the put's mid. */
function pairsOf(contracts: ContractBatch, rows: Rows): { strike: number; gap: number }[] {
  const [calls, puts] = [midsOf(contracts, rows, 1), midsOf(contracts, rows, -1)];
  const { series, columns } = contracts;
  return rows.flatMap((row) => {
    const { root } = series[row]!;
    const strike = columns.strike[row]!;
    const call = columns.callPut[row] === 1 ? calls.get(root)?.get(strike) : undefined;
    const put = puts.get(root)?.get(strike);
    return call === undefined || put === undefined ? [] : [{ strike, gap: call - put }];
  });
}

/** Returns the mids of all calls (1) or puts (-1) with a bid and an ask, by root and strike. */
function midsOf({ series, columns }: ContractBatch, rows: Rows, side: 1 | -1): Map<string, Map<number, number>> {
  const mids = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const [bid, ask] = [columns.bid[row]!, columns.ask[row]!];
    if (columns.callPut[row] !== side || !(bid > 0 && ask >= bid && Number.isFinite(ask))) continue;
    const { root } = series[row]!;
    mids.getOrInsertComputed(root, () => new Map()).set(columns.strike[row]!, (bid + ask) / 2);
  }
  return mids;
}
