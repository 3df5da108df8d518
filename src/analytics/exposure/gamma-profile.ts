import { gammaProfile, type LogLevels, logLevels, type ProfileColumns } from '../../math/gamma-exposure.ts';
import { pick } from '../chain/pick.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

export interface GammaProfile {
  /** Spots, ascending, dollars. */
  readonly level: Float64Array;
  /** Net GEX at each, dollars per 1 % move. */
  readonly gex: Float64Array;
}

/** Between levels, as a fraction of the present spot. */
export const STEP = 0.0025;
/** Standard deviation of a gamma over log spot from which on levels that far apart tell what is between them. */
const WIDE_MIN = 2 * STEP;

/** Net GEX over spots within `halfWidth` (a fraction) of the present one, in steps of a quarter percent. */
export function netGammaProfile(prepared: PreparedChain, halfWidth: number): GammaProfile {
  const level = levelsWithin(halfWidth, prepared.chain.spot);
  return { level, gex: netGex(positionsOf(prepared), level) };
}

export function levelsWithin(halfWidth: number, spot: number): Float64Array {
  const steps = Math.round(halfWidth / STEP);
  return Float64Array.from({ length: 2 * steps + 1 }, (_, at) => spot * (1 + (at - steps) * STEP));
}

/** What is held of each gamma, as a function of spot: those that several levels see, and the peaks that may pass between. */
export interface Positions {
  readonly wide: Held;
  readonly narrow: Held;
}

/** As the kernel takes them, every column in full. */
export type Held = Readonly<Record<'strike' | 'tte' | 'iv' | 'rate' | 'dividend' | 'weight', Float64Array>> &
  Pick<ProfileColumns, 'count'>;

/**
 * A call and a put that share their volatility share their gamma at every spot, and count by what is left of both. What counts
 * nothing is left out, as is what has no volatility: it has no gamma elsewhere either.
 */
export function positionsOf({ pairs, position, multiplier }: PreparedChain): Positions {
  const { count, contracts, tte, iv } = pairs;
  const net = new Float64Array(count);
  // Wide ones from the front, narrow ones from the back.
  const held = new Uint32Array(count);
  let [wide, narrow] = [0, count];
  for (let pair = 0; pair < count; pair++) {
    for (let at = contracts[pair]!; at < contracts[pair + 1]!; at++) {
      net[pair]! += position[at]! * multiplier[at]!;
    }
    if (net[pair] === 0 || !(iv[pair]! > 0)) continue;
    if (iv[pair]! * Math.sqrt(tte[pair]!) >= WIDE_MIN) held[wide++] = pair;
    else held[--narrow] = pair;
  }
  const columns = (rows: Uint32Array): Held => ({
    count: rows.length,
    strike: pick(pairs.strike, rows),
    tte: pick(tte, rows),
    iv: pick(iv, rows),
    rate: pick(pairs.rate, rows),
    dividend: pick(pairs.dividend, rows),
    weight: pick(net, rows),
  });
  return { wide: columns(held.subarray(0, wide)), narrow: columns(held.subarray(narrow)) };
}

/** Net GEX at each level, of all positions. */
export function netGex({ wide, narrow }: Positions, level: Float64Array): Float64Array {
  const gex = gexOf(wide, level);
  const more = gexOf(narrow, level);
  return gex.map((each, at) => each + more[at]!);
}

export function gexOf(positions: ProfileColumns, levels: Float64Array | LogLevels): Float64Array {
  const level = levels instanceof Float64Array ? levels : logLevels(levels);
  return gammaProfile(positions, levels).map((sum, at) => sum * level[at]! ** 2 * 0.01);
}
