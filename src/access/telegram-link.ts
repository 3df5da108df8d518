import type { TelegramLink } from './members.ts';

/** Returns the answer of `GET /api/v1/auth/telegram-status`, whose fields the API contract defines. Clients can see it without a key. */
export function telegramStatus(link: TelegramLink | undefined) {
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

/** Masks a handle: shows at most SHOWN_MAX characters and half of it, and always five asterisks, which do not reveal its length. */
function maskHandle(handle: string): string {
  const characters = [...handle];
  const shown = Math.min(SHOWN_MAX, Math.floor(characters.length / 2));
  return `${characters.slice(0, shown).join('')}*****`;
}

function routing(enabled: boolean): 'ENABLED' | 'DISABLED' {
  return enabled ? 'ENABLED' : 'DISABLED';
}

function utcSeconds(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
