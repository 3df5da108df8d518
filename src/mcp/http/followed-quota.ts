import { Failure } from '../../errors.ts';

/** Some 200 bytes each. */
const ACCOUNT_FOLLOWED_MAX = 100_000;
const ALL_FOLLOWED_MAX = 400_000;

/** Addresses of resources that are followed, on all streams and in all sessions together. */
export interface FollowedQuota {
  /** Throws `Failure` if they are too many: of the account 429, of all 503. */
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
        throw new Failure('too_many_streams', `This account follows as many resources as it may, ${accountMax}`, {
          hint: 'Follow fewer, or end sessions and streams that follow them.',
        });
      }
      if (total + count > allMax) {
        throw new Failure('unavailable', 'No more resources can be followed now', { hint: 'Retry later.' });
      }
      add(accountId, count);
    },
    give: (accountId, count) => add(accountId, -count),
  };
}

/** What a session follows, each address counted for its account. */
export class FollowedResources extends Set<string> {
  constructor(
    private readonly quota: FollowedQuota,
    private readonly accountId: string,
  ) {
    super();
  }

  /** Throws `Failure`: see `FollowedQuota`. */
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
