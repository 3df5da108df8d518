/** The state of the feeds. The state is stored in the database, so that every process reads the same state, also after a restart. */
export interface FeedLedger {
  /** Returns the checkpoints of a feed, by key. */
  checkpoints(feed: string): Map<string, string>;
  /** Stores a checkpoint. A null value removes the checkpoint. */
  setCheckpoint(feed: string, key: string, value: string | null): void;
  /**
   * Sets which feeds run, and which tickers each of them requests. The states of other feeds are kept, and `feedStates` leaves them out. If
   * a feed requests tickers, deletes the state of the other tickers of this feed.
   */
  openFeeds(feeds: readonly OpenedFeed[]): void;
  /** Deletes the state of a feed that does not run, except its checkpoints and gaps. Returns false if there is no such feed. */
  forgetFeed(feed: string): boolean;
  /** Records that a poll began. The results of the poll before stay valid until the new poll ends. */
  pollBegan(feed: string, at: number): void;
  pollEnded(poll: EndedPoll): void;
  snapshotReceived(snapshot: ReceivedSnapshot): void;
  /** Records that prints, closes or dividends arrived. */
  dataReceived(feed: string, at: number): void;
  /** Records a rejection. For repeated rejections of one origin, stores only the last one and their number. */
  rejected(rejection: Rejection): void;
  /** Removes the rejections of one origin, or of one ticker from any origin. */
  resolved(feed: string, source: { readonly origin: string } | { readonly ticker: string }): void;
  /** Records that a stream connected or disconnected. The time from a disconnection to the next connection becomes a gap. */
  connection(feed: string, up: boolean, at: number, reason: string | null): void;
  /** Records how much of the past of a feed is filled. */
  pastFilled(feed: string, past: PastProgress): void;
  /** Returns the gaps that overlap a period, the newest first. A gap is a time in which the stream of a feed was down. */
  gapsIn(fromMs: number, toMs: number): Gap[];
  feedStates(): FeedState[];
}

/** A feed that runs, with the tickers that it requests. */
export interface OpenedFeed {
  readonly name: string;
  readonly simulated: boolean;
  readonly tickers: readonly string[];
}

/** A poll that has completed or has failed. */
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
  /** Whether the snapshot is newer than every earlier snapshot of this ticker. */
  readonly isFresh: boolean;
  /**
   * The number of contracts that the snapshot should have: the number that the source listed, or the number of contracts of the last stored
   * snapshot that have not settled, whichever is larger.
   */
  readonly expected: number;
  readonly received: number;
  /** Numbers of rejected rows, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

/**
 * A rejection of market data. `origin` is the file, the ticker of a provider or the stream from which the data came. `at` is in ms since
 * the epoch.
 */
export interface Rejection {
  readonly feed: string;
  readonly origin: string;
  readonly reason: string;
  readonly ticker: string | null;
  readonly at: number;
}

/** The state of one feed. Moments are ms since the epoch. A moment is null if the event has not occurred yet. */
export interface FeedState {
  readonly feed: string;
  readonly simulated: boolean;
  readonly polledAt: number | null;
  readonly completedAt: number | null;
  readonly nextAt: number | null;
  /** When the feed last delivered a snapshot, prints, closes or dividends. */
  readonly dataAt: number | null;
  readonly error: string | null;
  /** Null if the feed has no stream, or if its stream has not connected yet. */
  readonly connection: { readonly up: boolean; readonly at: number; readonly reason: string | null } | null;
  /** Null if the feed does not backfill the past. */
  readonly past: PastProgress | null;
  readonly tickers: readonly TickerState[];
  /** The last rejections, the newest first. */
  readonly refusals: readonly (Omit<Rejection, 'feed'> & { readonly times: number })[];
  /** Times in which the stream was down, the newest first. `to` is null while the stream is still down. */
  readonly gaps: readonly Gap[];
}

/** Progress of the backfill of the simulated market, as numbers of snapshots of all tickers. */
export interface PastProgress {
  /** Snapshots that are stored with all their levels. */
  readonly done: number;
  readonly total: number;
}

/** A time in which the stream of a feed was down. Moments are ms since the epoch. */
export interface Gap {
  readonly from: number;
  readonly to: number | null;
  readonly reason: string;
}

/** The state of one ticker of a feed. Moments are ms since the epoch. A moment is null if the event has not occurred yet. */
export interface TickerState {
  readonly ticker: string;
  readonly attemptedAt: number | null;
  /** When the newest snapshot arrived. A snapshot that is not newer than the previous snapshot does not change this moment. */
  readonly freshAt: number | null;
  readonly asOf: number | null;
  readonly expected: number | null;
  readonly received: number | null;
  readonly refused: Readonly<Record<string, number>>;
  /** Consecutive attempts that brought no snapshot. */
  readonly failures: number;
  /** Why the last failed attempt brought no snapshot. */
  readonly refusal: string | null;
}
