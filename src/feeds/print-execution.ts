import { DAY_MS } from '../market/calendar.ts';
import type { Print } from '../market/prints.ts';

/** The flags of a print that come from its reported conditions. */
export type Execution = Pick<Print, 'multiLeg' | 'sweep' | 'block' | 'canceled'>;
type Flags = Partial<Execution>;

const leg: Flags = { multiLeg: true };
const sweep: Flags = { sweep: true };
const block: Flags = { block: true };
const blockLeg: Flags = { multiLeg: true, block: true };
const canceled: Flags = { canceled: true };

/**
 * The flags for OPRA's sale conditions, by the four-letter code of tapes (OPRA Pillar output specification, last-sale message types).
 * Trades of stock and options together are `multiLeg`, and so are compression trades, which close whole portfolios at agreed prices and so
 * say nothing about a contract.
 */
export const CONDITIONS: ReadonlyMap<string, Flags> = mapOf({
  // Trades without flags: reported in the regular way, late, out of sequence, after a halt or out of hours.
  ...{ auto: {}, oseq: {}, late: {}, open: {}, opnl: {}, reop: {}, exht: {} },
  // Cancellations of four types: the trade itself, the last trade, the opening trade and the only trade.
  ...{ canc: canceled, cncl: canceled, cnco: canceled, cnol: canceled },
  // Trades of a single leg: intermarket sweep, auction, auction with intermarket sweep, cross, cross with intermarket sweep, floor.
  ...{ isoi: sweep, slan: {}, slai: sweep, slcn: block, slci: { ...block, ...sweep }, slft: block },
  // Trades of several legs against several legs: electronic, auction, cross, floor.
  ...{ mlet: leg, mlat: leg, mlct: blockLeg, mlft: blockLeg },
  // Trades of several legs against single legs: electronic, auction, floor.
  ...{ mesl: leg, masl: leg, mfsl: blockLeg },
  // Trades of stock and options together: first four types against several legs, then three types against single legs.
  ...{ tlet: leg, tlat: leg, tlct: blockLeg, tlft: blockLeg, tesl: leg, tasl: leg, tfsl: blockLeg },
  // Trades of proprietary products: floor trade of three legs or more, compression trade.
  ...{ cbmo: blockLeg, mctp: blockLeg },
});

/** The flags for each word in a tape's `report_flags`. */
const FLAGS_BY_WORD: ReadonlyMap<string, Flags> = mapOf({
  ...{ sweep, intermarket_sweep: sweep },
  ...{ floor: block, cross: block, block },
  ...{ multi_leg: leg, multileg: leg, spread: leg },
});

/** Returns the flags from a sale condition and `report_flags`: `{sweep,floor}`, `["sweep"]` or words. Unknown words have no effect. */
export function executionOf(reportFlags: string, condition: string): Execution {
  const words = reportFlags.toLowerCase().match(/[a-z_]+/g) ?? [];
  const flags = [CONDITIONS.get(condition.toLowerCase()), ...words.map((word) => FLAGS_BY_WORD.get(word))];
  return Object.assign({ multiLeg: false, sweep: false, block: false, canceled: false }, ...flags);
}

function mapOf(flags: Readonly<Record<string, Flags>>): ReadonlyMap<string, Flags> {
  return new Map(Object.entries(flags));
}

/** Maximum time from the start of a contract's expiry date (UTC) to a print, ms. The second day covers time zones and late reports. */
export const AFTER_EXPIRY_MS_MAX = 2 * DAY_MS;
/** Maximum price of a print, dollars per share. No option costs more than its underlying, and no index with options exceeds `PRICE_MAX`. */
export const PRICE_MAX = 1e5;
/** Maximum size of a print, contracts. This number is larger than any open interest. */
export const SIZE_MAX = 1e7;
