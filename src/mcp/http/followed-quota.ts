import { ClientError } from '../../errors.ts';

/** Limits of the subscriptions of one account, and of all accounts together. A subscription takes about 200 bytes. */
const ACCOUNT_FOLLOWED_MAX = 100_000;
const ALL_FOLLOWED_MAX = 400_000;

/** Counts the subscriptions to resources on all streams and in all sessions. */
export interface FollowedQuota {
  /** Throws `ClientError` if there are too many subscriptions: 429 for the limit of the account, 503 for the limit of all accounts. */
  take(accountId: string, count: number): void;
  give(accountId: string, count: number): void;
}

export function createFollowedQuota(accountMax = ACCOUNT_FOLLOWED_MAX, allMax = ALL_FOLLOWED_MAX): FollowedQuota {
  const counts = new Map<string, number>();
  let total = 0;
  const add = (accountId: string, count: number): void => {
    const now = (counts.get(accountId) ?? 0) + count;
    if (now > 0) counts.set(accountId, now);
    else counts.delete(accountId);
    total += count;
  };
  return {
    take(accountId, count) {
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
    give: (accountId, count) => add(accountId, -count),
  };
}

/** The URIs that a session has subscribed to. Each counts as a subscription of its account. */
export class FollowedResources extends Set<string> {
  constructor(
    private readonly quota: FollowedQuota,
    private readonly accountId: string,
  ) {
    super();
  }

  /** Throws `ClientError` as `FollowedQuota.take` does. */
  override add(uri: string): this {
    if (!this.has(uri)) this.quota.take(this.accountId, 1);
    return super.add(uri);
  }

  override delete(uri: string): boolean {
    const isFollowed = super.delete(uri);
    if (isFollowed) this.quota.give(this.accountId, 1);
    return isFollowed;
  }

  override clear(): void {
    this.quota.give(this.accountId, this.size);
    super.clear();
  }
}
