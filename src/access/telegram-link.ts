import type { TelegramLink } from './members.ts';

/** The answer about a member's messaging account; the field names are the contract's. */
export interface TelegramStatus {
  readonly status: 'linked' | 'unlinked';
  /** The handle's beginning and five asterisks; empty where none is linked. */
  readonly telegram_id: string;
  readonly routing_1dte: Routing;
  readonly routing_radar: Routing;
  /** `YYYY-MM-DD HH:MM:SS` in UTC; empty where there was none. */
  readonly last_ping: string;
}

export type Routing = 'ENABLED' | 'DISABLED';

/** What may be told of a link without a key; of no link, the same fields at rest. */
export function telegramStatus(link: TelegramLink | undefined): TelegramStatus {
  if (link === undefined) {
    return { status: 'unlinked', telegram_id: '', routing_1dte: 'DISABLED', routing_radar: 'DISABLED', last_ping: '' };
  }
  return {
    status: 'linked',
    telegram_id: maskHandle(link.telegramId),
    routing_1dte: routing(link.routing1dte),
    routing_radar: routing(link.routingRadar),
    last_ping: link.lastPingAt === null ? '' : utcSeconds(link.lastPingAt),
  };
}

const SHOWN_MAX = 4;

/** At most four characters and never more than half; always five asterisks, so that the length stays unknown. */
function maskHandle(handle: string): string {
  const characters = [...handle];
  const shown = Math.min(SHOWN_MAX, Math.floor(characters.length / 2));
  return `${characters.slice(0, shown).join('')}*****`;
}

function routing(enabled: boolean): Routing {
  return enabled ? 'ENABLED' : 'DISABLED';
}

function utcSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
