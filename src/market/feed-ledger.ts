/** State of the feeds. It is stored, so that it survives a restart and every process sees the same state. */
export interface FeedLedger {
  /** The checkpoints of a feed, by key. */
  checkpoints(feed: string): Map<string, string>;
  /** Stores a checkpoint. A null value removes it. */
  setCheckpoint(feed: string, key: string, value: string | null): void;
  /** Sets the feeds and the tickers that they request. State of other feeds and tickers is deleted. Checkpoints stay. */
  openFeeds(feeds: readonly OpenedFeed[]): void;
  /** A poll began. The results of the last poll stay valid until this one ends. */
  pollBegan(feed: string, at: number): void;
  pollEnded(poll: EndedPoll): void;
  snapshotReceived(snapshot: ReceivedSnapshot): void;
  /** Prints or closes arrived. */
  dataReceived(feed: string, at: number): void;
  /** Records a rejection. Repeated rejections of one origin are counted. */
  rejected(rejection: Rejection): void;
  /** Clears the rejections of one origin, or of one ticker from any origin. */
  resolved(feed: string, source: { readonly origin: string } | { readonly ticker: string }): void;
  /** A stream connected or disconnected. The time while it is down is recorded as a gap. */
  connection(feed: string, up: boolean, at: number, reason: string | null): void;
  /** Gaps that overlap a period: times in which a stream was down. The newest comes first. */
  gapsIn(fromMs: number, toMs: number): Gap[];
  feedStates(): FeedState[];
}

export interface OpenedFeed {
  readonly name: string;
  readonly simulated: boolean;
  readonly tickers: readonly string[];
}

/** A poll that completed, or that an error ended. */
export interface EndedPoll {
  readonly feed: string;
  readonly beganAt: number;
  readonly endedAt: number;
  readonly nextAt: number;
  readonly error: string | null;
}

/** A snapshot that a feed delivered, even if it contains nothing new. */
export interface ReceivedSnapshot {
  readonly feed: string;
  readonly ticker: string;
  readonly at: number;
  readonly asOf: number;
  /** Whether the snapshot is newer than every earlier one of this ticker. */
  readonly isFresh: boolean;
  /** Expected contracts: as many as the source listed, and at least those of the last good snapshot that have not settled. */
  readonly expected: number;
  readonly received: number;
  /** Rows that were rejected, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Rejection {
  readonly feed: string;
  readonly origin: string;
  readonly reason: string;
  readonly ticker: string | null;
  readonly at: number;
}

/** Moments are ms since the epoch. Null means "not yet". */
export interface FeedState {
  readonly feed: string;
  readonly simulated: boolean;
  readonly polledAt: number | null;
  readonly completedAt: number | null;
  readonly nextAt: number | null;
  /** When the feed last delivered a snapshot, prints or closes. */
  readonly dataAt: number | null;
  readonly error: string | null;
  /** Null if the feed has no stream. */
  readonly connection: { readonly up: boolean; readonly at: number; readonly reason: string | null } | null;
  readonly tickers: readonly TickerState[];
  /** The last rejections, the newest first. */
  readonly refusals: readonly (Omit<Rejection, 'feed'> & { readonly times: number })[];
  /** Times in which the stream was down, the newest first. `to` is null while the stream is still down. */
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
  /** When the last snapshot arrived that was newer than all before it. */
  readonly freshAt: number | null;
  readonly asOf: number | null;
  readonly expected: number | null;
  readonly received: number | null;
  readonly refused: Readonly<Record<string, number>>;
  /** Consecutive attempts that brought nothing. */
  readonly failures: number;
  /** Why the last of these attempts brought nothing. */
  readonly refusal: string | null;
}
