import type { TelegramLink } from './members.ts';

/** The answer of `GET /api/v1/auth/telegram-status`. The API contract defines the field names. */
export interface TelegramStatus {
  readonly status: 'linked' | 'unlinked';
  /** The first characters of the Telegram handle, followed by five asterisks. Empty if no handle is linked. */
  readonly telegram_id: string;
  /**
   * A stored value: whether another service may send signals about options that expire in one day (1DTE) to the handle. Zomma sends no
   * signals.
   */
  readonly routing_1dte: Routing;
  /** A stored value: whether another service may send radar signals to the handle. Zomma sends no signals. */
  readonly routing_radar: Routing;
  /** The time of the last ping (at present, the time of linking), `YYYY-MM-DD HH:MM:SS` in UTC. Empty if there was no ping. */
  readonly last_ping: string;
}

export type Routing = 'ENABLED' | 'DISABLED';

/**
 * Returns the fields of a link that clients can see without a key. Without a link, the text fields are empty, and both routings are
 * disabled.
 */
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

/**
 * Masks a handle. Shows at most SHOWN_MAX characters, and at most half of the handle. The number of asterisks is always five, so the length
 * of the handle is not revealed.
 */
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
