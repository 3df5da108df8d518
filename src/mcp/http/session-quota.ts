import { AccountCounts } from '../../access/account-counts.ts';
import { ClientError } from '../../core/errors.ts';
import { DAY_MS } from '../../market/calendar.ts';

/** Maximum number of sessions that an account opens per day: about one session every two seconds. */
const DAY_SESSIONS_MAX = 50_000;

/** Limits an account's subscriptions, and its number of new sessions per day (UTC) over both transports. */
export type SessionQuota = ReturnType<typeof createSessionQuota>;

export function createSessionQuota(nowMs: () => number, daySessionsMax = DAY_SESSIONS_MAX) {
  let day = 0;
  let counts = new AccountCounts();
  return {
    subscriptions: createSubscriptionQuota(),
    /** Counts a new session. Throws `ClientError` (429) if the account has opened the maximum number of sessions today. */
    take(accountId: string) {
      const today = Math.floor(nowMs() / DAY_MS);
      if (today !== day) counts = new AccountCounts();
      day = today;
      if (counts.of(accountId) >= daySessionsMax) {
        throw new ClientError('rate_limited', `This account has opened ${daySessionsMax} sessions today, the maximum`, {
          hint: 'Use one session for many calls. The count restarts at midnight UTC.',
        });
      }
      counts.add(accountId);
    },
  };
}

/** Maximum numbers of subscriptions, for one account and for all accounts together. A subscription takes about 200 bytes. */
const ACCOUNT_SUBSCRIPTIONS_MAX = 100_000;
const ALL_SUBSCRIPTIONS_MAX = 400_000;

/** Counts the subscriptions to resources on all streams and in all sessions. */
export type SubscriptionQuota = ReturnType<typeof createSubscriptionQuota>;

export function createSubscriptionQuota(accountMax = ACCOUNT_SUBSCRIPTIONS_MAX, allMax = ALL_SUBSCRIPTIONS_MAX) {
  const counts = new AccountCounts();
  return {
    /** Throws `ClientError` if there are too many subscriptions: 429 at the limit of the account, 503 at the limit of all accounts. */
    acquire(accountId: string, count: number) {
      if (counts.of(accountId) + count > accountMax) {
        throw new ClientError('too_many_streams', `This account has ${accountMax} subscriptions, the maximum`, {
          hint: 'Subscribe to fewer resources, or end sessions and streams with subscriptions.',
        });
      }
      if (counts.total + count > allMax) {
        throw new ClientError('unavailable', 'No more subscriptions are possible now', { hint: 'Retry later.' });
      }
      counts.add(accountId, count);
    },
    release: (accountId: string, count: number) => counts.remove(accountId, count),
  };
}

/** The URIs that a session has subscribed to. Each URI is one subscription of the session's account in the quota. */
export class SubscribedResources extends Set<string> {
  constructor(
    private readonly quota: SubscriptionQuota,
    private readonly accountId: string,
  ) {
    super();
  }

  /** Adds a URI. Throws the `ClientError` of `SubscriptionQuota.acquire`. */
  override add(uri: string): this {
    if (!this.has(uri)) this.quota.acquire(this.accountId, 1);
    return super.add(uri);
  }

  override delete(uri: string): boolean {
    const wasSubscribed = super.delete(uri);
    if (wasSubscribed) this.quota.release(this.accountId, 1);
    return wasSubscribed;
  }

  override clear(): void {
    this.quota.release(this.accountId, this.size);
    super.clear();
  }
}
