/** The place where writes are decided: the database file of this server, or the log that several servers follow. */
export interface Ledger<Transaction> {
  /**
   * Runs `work`, which must not be asynchronous, in one transaction. Resolves with its result when the writes are durable and this server's
   * store has them. If `work` throws, or if the writes cannot be made durable, rejects, and nothing is written.
   */
  write<Result>(work: (transaction: Transaction) => Result): Promise<Result>;
}
