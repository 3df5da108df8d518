import { ClientError } from '../../core/errors.ts';

/** Limits of the subscriptions of one account, and of all accounts together. A subscription takes about 200 bytes. */
const ACCOUNT_SUBSCRIPTIONS_MAX = 100_000;
const ALL_SUBSCRIPTIONS_MAX = 400_000;

/** Counts the subscriptions to resources on all streams and in all sessions. */
export interface SubscriptionQuota {
  /** Throws `ClientError` if there are too many subscriptions: 429 for the limit of the account, 503 for the limit of all accounts. */
  acquire(accountId: string, count: number): void;
  release(accountId: string, count: number): void;
}

export function createSubscriptionQuota(
  accountMax = ACCOUNT_SUBSCRIPTIONS_MAX,
  allMax = ALL_SUBSCRIPTIONS_MAX,
): SubscriptionQuota {
  const counts = new Map<string, number>();
  let total = 0;
  const add = (accountId: string, count: number): void => {
    const updated = (counts.get(accountId) ?? 0) + count;
    if (updated > 0) counts.set(accountId, updated);
    else counts.delete(accountId);
    total += count;
  };
  return {
    acquire(accountId, count) {
      if ((counts.get(accountId) ?? 0) + count > accountMax) {
        throw new ClientError('too_many_streams', `This account has ${accountMax} subscriptions, the maximum`, {
          hint: 'Subscribe to fewer resources, or end sessions and streams with subscriptions.',
        });
      }
      if (total + count > allMax) {
        throw new ClientError('unavailable', 'No more subscriptions are possible now', { hint: 'Retry later.' });
      }
      add(accountId, count);
    },
    release: (accountId, count) => add(accountId, -count),
  };
}

/** The URIs to which a session has subscribed. Each URI counts as a subscription of the session's account. */
export class SubscribedResources extends Set<string> {
  constructor(
    private readonly quota: SubscriptionQuota,
    private readonly accountId: string,
  ) {
    super();
  }

  /** Adds a URI. Throws `ClientError` as `SubscriptionQuota.acquire` does. */
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
