import { cleanText } from '../page-format.ts';
import { send } from './request.ts';

/** The answer of `GET /api/v1/account`. */
export interface AccountStatus {
  readonly tier: string;
  /** The end of the membership, ISO 8601. Null if the membership does not expire. */
  readonly expires_at: string | null;
  /** The rate limit of the account. Null if the server has no rate limit. */
  readonly rate_limit: Readonly<Record<'requests' | 'window_s' | 'remaining', number>> | null;
  readonly live_streams: number;
}

/** Requests the account of the member who is signed in. Rejects with `RequestProblem`. */
export async function accountStatus(): Promise<AccountStatus> {
  const response = await send('/api/v1/account', {});
  return (await response.json()) as AccountStatus;
}

export const MEMBER_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Sends a request about a member or a key. If the server refuses the request, the member stays signed in, because the request may be about
 * another member or key. Rejects with the server's error message.
 */
async function askApart(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  let response: Response;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...init });
  } catch {
    throw new Error('The server does not answer.');
  }
  const body = (await response.json()) as Record<string, unknown>;
  if (response.ok) return body;
  throw new Error(`${cleanText(body.detail)}. ${cleanText(body.hint)}`.trim());
}

/** Rejects if the server refuses the key. */
export async function checkKey(key: string): Promise<void> {
  await askApart('/api/v1/account', { headers: { 'X-API-Key': key } }).catch((error: Error) => {
    // The server's hint is for programs, and names this page.
    const isUnknown = error.message.includes('Fetch your current key');
    throw isUnknown ? new Error('No member has this key. The operator gives a new key: zomma members rekey.') : error;
  });
}

/** Requests the key of a member. Rejects if the member with this UUID has no access. */
export async function keyOfMember(uuid: string): Promise<string> {
  const { api_key: key } = await askApart(`/api/v1/auth/my-key?uuid=${encodeURIComponent(uuid)}`);
  return cleanText(key);
}

/** Exchanges the single-use code of a link for the member's key. Rejects if the code was used or is too old. */
export async function keyOfCode(code: string): Promise<string> {
  const headers = { Authorization: `Bearer ${code}` };
  const { api_key: key } = await askApart('/api/v1/auth/sign-in', { method: 'POST', headers });
  return cleanText(key);
}

const LINKAGE = ['status', 'telegram_id', 'routing_1dte', 'routing_radar', 'last_ping'] as const;

/** The link between a member and a Telegram account, in the server's format. The texts are empty if there is no link. */
export type TelegramLinkage = Readonly<Record<(typeof LINKAGE)[number], string>>;

export async function telegramLinkage(uuid: string): Promise<TelegramLinkage> {
  const body = await askApart(`/api/v1/auth/telegram-status?uuid=${encodeURIComponent(uuid)}`);
  return Object.fromEntries(LINKAGE.map((name) => [name, cleanText(body[name])])) as TelegramLinkage;
}
