/** What is known of the feeds themselves, kept so that it outlives a restart and that every process sees the same. */
export interface FeedLedger {
  /** What a feed asked to remember, by key. */
  marks(feed: string): Map<string, string>;
  /** Remembers, or with null forgets. */
  setMark(feed: string, key: string, value: string | null): void;
}
