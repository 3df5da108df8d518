/** Counts the requests, streams or bytes that each account has in progress. An account whose count is zero takes no memory. */
export class AccountCounts {
  private readonly counts = new Map<string, number>();
  private sum = 0;

  of(accountId: string): number {
    return this.counts.get(accountId) ?? 0;
  }

  get total(): number {
    return this.sum;
  }

  /**
   * Returns the account that gives up one of `places` places to `accountId` while all places are taken: the account with the highest count,
   * if this count is above a share and the count of `accountId` is below it. The share is `places` over the number of accounts plus one,
   * rounded down, and at least 1. The plus one leaves a share for the next account. No place goes back and forth between two accounts.
   */
  accountGivingWay(places: number, accountId: string): string | undefined {
    const share = Math.max(1, Math.floor(places / (this.counts.size + 1)));
    if (this.of(accountId) >= share) return undefined;
    let [largest, most]: [string | undefined, number] = [undefined, share];
    for (const [each, count] of this.counts) if (count > most) [largest, most] = [each, count];
    return largest;
  }

  add(accountId: string, count = 1): void {
    this.counts.set(accountId, this.of(accountId) + count);
    this.sum += count;
  }

  remove(accountId: string, count = 1): void {
    const left = this.of(accountId) - count;
    this.sum -= count;
    if (left > 0) this.counts.set(accountId, left);
    else this.counts.delete(accountId);
  }
}
