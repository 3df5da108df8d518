import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import type { ExposuresByStrike } from '../analytics/exposure/exposures-by-strike.ts';
import type { GammaProfile } from '../analytics/exposure/gamma-profile.ts';
import { signMarginPct } from '../analytics/exposure/sign-margin.ts';
import { numberCell } from './text-format.ts';

/** Suffixes of the columns with contract counts, by the weight that the table uses. */
const WEIGHT_COLUMN = { open_interest: 'oi', volume: 'volume' } as const;

/** Formats GEX by strike as CSV, dollars per 1 % move. Strikes and contract counts come from the input and are printed unchanged. */
export function strikesCsv(by: ExposuresByStrike, weight: PreparedChain['options']['weight']): string {
  const counted = WEIGHT_COLUMN[weight];
  const [calls, puts] = weight === 'volume' ? [by.callVolume, by.putVolume] : [by.callOpenInterest, by.putOpenInterest];
  return csv(
    ['strike', 'call_gex', 'put_gex', 'net_gex', 'sign_margin_pct', `call_${counted}`, `put_${counted}`],
    Array.from(by.strike, (each, i) => [
      String(each),
      numberCell(by.callGex[i]!),
      numberCell(by.putGex[i]!),
      numberCell(by.netGex[i]!),
      numberCell(signMarginPct(by.netGex[i]!, by.grossGex[i]!)),
      String(calls[i]!),
      String(puts[i]!),
    ]),
  );
}

/** Formats the gamma profile as CSV: net GEX at other spots, dollars per 1 % move. */
export function profileCsv({ level, gex }: GammaProfile): string {
  return csv(
    ['spot', 'net_gex'],
    Array.from(level, (each, i) => [numberCell(each), numberCell(gex[i]!)]),
  );
}

function csv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}
