import { DAY_MS, tradesWithin } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Context } from './operation.ts';

/** Most gaps that a note names. Further gaps are only counted. */
const NAMED_GAPS_MAX = 3;

/** Notes on gaps in the prints of the `days` days up to a snapshot: periods of trading in which the feed received no prints. */
export function gapNotes(chain: Chain, days: number, context: Context): string[] {
  if (chain.simulated) return [];
  const now = context.nowMs();
  const gaps = context.gapsIn(chain.asOf - days * DAY_MS, now).filter(({ from, to }) => tradesWithin(from, to ?? now));
  const named = gaps
    .slice(0, NAMED_GAPS_MAX)
    .map(({ from, to, reason }) => `${iso(from)} ${to === null || to > now ? 'on' : `to ${iso(to)}`} (${reason})`);
  if (named.length === 0) return [];
  const more = gaps.length - named.length;
  return [`Trades were not received from ${named.join(', ')}${more > 0 ? ` and at ${more} earlier times` : ''}.`];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
