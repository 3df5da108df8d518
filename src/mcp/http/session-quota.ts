import { ClientError } from '../../core/errors.ts';
import { DAY_MS } from '../../market/calendar.ts';
import { createSubscriptionQuota, type SubscriptionQuota } from './subscription-quota.ts';

/** Maximum sessions of an account in a day. A client that opens a session every two seconds stays below this limit. */
const DAY_SESSIONS_MAX = 50_000;

/** Limits the sessions that an account opens in a day (UTC) over both transports, and its subscriptions. */
export interface SessionQuota {
  readonly subscriptions: SubscriptionQuota;
  /** Counts a new session. Throws `ClientError` (429) if the account has opened the maximum number of sessions today. */
  take(accountId: string): void;
}

export function createSessionQuota(nowMs: () => number, daySessionsMax = DAY_SESSIONS_MAX): SessionQuota {
  let day = 0;
  const counts = new Map<string, number>();
  return {
    subscriptions: createSubscriptionQuota(),
    take(accountId) {
      const today = Math.floor(nowMs() / DAY_MS);
      if (today !== day) counts.clear();
      day = today;
      const count = counts.get(accountId) ?? 0;
      if (count >= daySessionsMax) {
        throw new ClientError('rate_limited', `This account has opened ${daySessionsMax} sessions today, the maximum`, {
          hint: 'Use one session for many calls. The count restarts at midnight UTC.',
        });
      }
      counts.set(accountId, count + 1);
    },
  };
}
