/** How many things each account has under way: those that have none take no memory. */
export class AccountCounts {
  private readonly counts = new Map<string, number>();

  of(accountId: string): number {
    return this.counts.get(accountId) ?? 0;
  }

  /** Of all accounts. */
  get total(): number {
    return this.counts.values().reduce((sum, count) => sum + count, 0);
  }

  /** The account that has the most, if that is more than so many. */
  largest(moreThan: number): string | undefined {
    let [largest, most]: [string | undefined, number] = [undefined, moreThan];
    for (const [accountId, count] of this.counts) if (count > most) [largest, most] = [accountId, count];
    return largest;
  }

  add(accountId: string): void {
    this.counts.set(accountId, this.of(accountId) + 1);
  }

  remove(accountId: string): void {
    const left = this.of(accountId) - 1;
    if (left > 0) this.counts.set(accountId, left);
    else this.counts.delete(accountId);
  }
}
