import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import type { ExposuresByStrike } from '../analytics/exposure/exposures-by-strike.ts';
import type { GammaProfile } from '../analytics/exposure/gamma-profile.ts';
import { numberCell } from './csv/number.ts';

/** Names what the contracts counted by, so that a table tells it of itself. */
const WEIGHT_COLUMN = { open_interest: 'oi', volume: 'volume' } as const;

/** GEX by strike, dollars per 1 % move. Strikes and contracts are given, not computed: they stand as short as they are. */
export function strikesCsv(by: ExposuresByStrike, weight: PreparedChain['options']['weight']): string {
  const counted = WEIGHT_COLUMN[weight];
  const [calls, puts] = weight === 'volume' ? [by.callVolume, by.putVolume] : [by.callOpenInterest, by.putOpenInterest];
  return csv(
    ['strike', 'call_gex', 'put_gex', 'net_gex', `call_${counted}`, `put_${counted}`],
    Array.from(by.strike, (each, at) => [
      String(each),
      numberCell(by.callGex[at]!),
      numberCell(by.putGex[at]!),
      numberCell(by.netGex[at]!),
      String(calls[at]!),
      String(puts[at]!),
    ]),
  );
}

/** Net GEX, dollars per 1 % move, were spot elsewhere. */
export function profileCsv({ level, gex }: GammaProfile): string {
  return csv(
    ['spot', 'net_gex'],
    Array.from(level, (each, at) => [numberCell(each), numberCell(gex[at]!)]),
  );
}

function csv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}
