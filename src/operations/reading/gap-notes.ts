import { DAY_MS, iso, tradesWithin } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { Context } from '../engine/operation.ts';

/** Maximum number of gaps that a note names. Further gaps are only counted. */
const NAMED_GAPS_MAX = 3;

/** Returns a note on the gaps since `days` days before a snapshot: periods of trading hours in which the feed received no prints. */
export function gapNotes(chain: Chain, days: number, context: Context): string[] {
  if (chain.simulated) return [];
  const now = context.nowMs();
  const gaps = context.gapsIn(chain.asOf - days * DAY_MS, now).filter(({ from, to }) => tradesWithin(from, to ?? now));
  const named = gaps
    .slice(0, NAMED_GAPS_MAX)
    .map(({ from, to, reason }) => `${iso(from)} ${to === null || to > now ? 'on' : `to ${iso(to)}`} (${reason})`);
  if (named.length === 0) return [];
  const more = gaps.length - named.length;
  return [`No trades were received from ${named.join(', ')}${more > 0 ? ` and in ${more} earlier periods` : ''}.`];
}
