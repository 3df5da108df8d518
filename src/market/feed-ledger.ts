/** What is known of the feeds themselves, kept so that it outlives a restart and that every process sees the same. */
export interface FeedLedger {
  /** What a feed asked to remember, by key. */
  marks(feed: string): Map<string, string>;
  /** Remembers, or with null forgets. */
  setMark(feed: string, key: string, value: string | null): void;
  /** From now on these are the feeds, and the tickers that they are asked for: what is known of others is dropped, their marks are not. */
  openFeeds(feeds: readonly OpenedFeed[]): void;
  /** A poll began; what has been known of the last one stands until this one ends. */
  pollBegan(feed: string, at: number): void;
  pollEnded(poll: EndedPoll): void;
  snapshotCame(snapshot: SnapshotCame): void;
  /** Prints or closes came. */
  dataCame(feed: string, at: number): void;
  /** Nothing was taken from there; the same origin counts up. */
  refused(refusal: Refusal): void;
  /** All is well again with an origin, or with a ticker wherever it comes from. */
  settled(feed: string, of: { readonly origin: string } | { readonly ticker: string }): void;
  /** A stream is up or down; while it is down there is a gap. */
  connection(feed: string, up: boolean, at: number, reason: string | null): void;
  /** Times between two instants in which a stream was down, the newest first. */
  gapsIn(fromMs: number, toMs: number): Gap[];
  feedStates(): FeedState[];
}

export interface OpenedFeed {
  readonly name: string;
  readonly simulated: boolean;
  readonly tickers: readonly string[];
}

/** A poll that took all there was, or was broken off by an error. */
export interface EndedPoll {
  readonly feed: string;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly nextAt: number;
  readonly error: string | null;
}

/** A snapshot that a feed brought, whether it said anything new or not. */
export interface SnapshotCame {
  readonly feed: string;
  readonly ticker: string;
  readonly at: number;
  readonly asOf: number;
  /** Newer than all that this ticker had. */
  readonly isFresh: boolean;
  /** Contracts that had to be there: those it listed, and no fewer than are left of the last good snapshot. */
  readonly expected: number;
  readonly received: number;
  /** Rows that could not be taken, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Refusal {
  readonly feed: string;
  readonly origin: string;
  readonly reason: string;
  readonly ticker: string | null;
  readonly at: number;
}

/** Instants are ms since the epoch, null for "not yet". */
export interface FeedState {
  readonly feed: string;
  readonly simulated: boolean;
  readonly polledAt: number | null;
  readonly completedAt: number | null;
  readonly nextAt: number | null;
  /** When it last brought anything, be it a snapshot, prints or closes. */
  readonly dataAt: number | null;
  readonly error: string | null;
  /** Null for a feed that has no stream. */
  readonly connection: { readonly up: boolean; readonly at: number; readonly reason: string | null } | null;
  readonly tickers: readonly TickerState[];
  /** The last ones, the newest first. */
  readonly refusals: readonly (Omit<Refusal, 'feed'> & { readonly times: number })[];
  /** Times in which the stream was down, the newest first; the end is null for one that lasts. */
  readonly gaps: readonly Gap[];
}

export interface Gap {
  readonly from: number;
  readonly to: number | null;
  readonly reason: string;
}

export interface TickerState {
  readonly ticker: string;
  readonly attemptedAt: number | null;
  /** When a snapshot newer than all before it arrived. */
  readonly freshAt: number | null;
  readonly asOf: number | null;
  readonly expected: number | null;
  readonly received: number | null;
  readonly refused: Readonly<Record<string, number>>;
  /** Attempts in a row that brought nothing. */
  readonly failures: number;
  /** Why the last of them did not. */
  readonly refusal: string | null;
}
