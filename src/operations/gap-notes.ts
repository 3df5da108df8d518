import { DAY_MS, tradesWithin } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Context } from './operation.ts';

/** Gaps that are named one by one. */
const NAMED = 3;

/** What an answer from the prints of some days up to a snapshot must say of the times in which none were received. */
export function gapNotes(chain: Chain, days: number, context: Context): string[] {
  if (chain.simulated) return [];
  const now = context.nowMs();
  const gaps = context.gapsIn(chain.asOf - days * DAY_MS, now).filter(({ from, to }) => tradesWithin(from, to ?? now));
  const named = gaps
    .slice(0, NAMED)
    .map(({ from, to, reason }) => `${iso(from)} ${to === null || to > now ? 'on' : `to ${iso(to)}`} (${reason})`);
  if (named.length === 0) return [];
  const more = gaps.length - named.length;
  return [`Trades were not received from ${named.join(', ')}${more > 0 ? ` and at ${more} earlier times` : ''}.`];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
