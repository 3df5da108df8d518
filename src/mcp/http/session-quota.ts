import { Failure } from '../../errors.ts';
import { createFollowedQuota, type FollowedQuota } from './followed-quota.ts';

/** A client that comes back every two seconds all day stays below it. */
const DAY_SESSIONS_MAX = 50_000;
const DAY_MS = 86_400_000;

/** Sessions that an account opens in a day (UTC), whichever transport they are of, and what is followed in them. */
export interface SessionQuota {
  readonly followed: FollowedQuota;
  /** Throws `Failure`, 429, where the account has opened as many as it may. */
  take(accountId: string): void;
}

export function createSessionQuota(nowMs: () => number, daySessionsMax = DAY_SESSIONS_MAX): SessionQuota {
  let day = 0;
  const counts = new Map<string, number>();
  return {
    followed: createFollowedQuota(),
    take(accountId) {
      const today = Math.floor(nowMs() / DAY_MS);
      if (today !== day) counts.clear();
      day = today;
      const count = counts.get(accountId) ?? 0;
      if (count >= daySessionsMax) {
        throw new Failure('rate_limited', `This account has opened ${daySessionsMax} sessions today, the most it may`, {
          hint: 'Keep a session open for many calls. The count begins anew at midnight UTC.',
        });
      }
      counts.set(accountId, count + 1);
    },
  };
}
