/** Counts the requests, streams or bytes that each account has in progress. An account whose count is zero takes no memory. */
export class AccountCounts {
  private readonly counts = new Map<string, number>();
  private sum = 0;

  of(accountId: string): number {
    return this.counts.get(accountId) ?? 0;
  }

  /** Returns the sum of the counts of all accounts. */
  get total(): number {
    return this.sum;
  }

  /** Returns the account with the highest count. Returns undefined if the highest count is not above `moreThan`. */
  largest(moreThan: number): string | undefined {
    let [largest, most]: [string | undefined, number] = [undefined, moreThan];
    for (const [accountId, count] of this.counts) if (count > most) [largest, most] = [accountId, count];
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
