/** The state of the feeds. The database stores the state, so that all processes read the same state, even after a restart. */
export interface FeedLedger {
  /** Returns the checkpoints of a feed. Each checkpoint has a key. */
  checkpoints(feed: string): Map<string, string>;
  /** Stores a checkpoint. If the value is null, removes the checkpoint. */
  setCheckpoint(feed: string, key: string, value: string | null): void;
  /** Sets the running feeds. Keeps the states of other feeds, and deletes those of tickers that a feed no longer requests. */
  openFeeds(feeds: readonly OpenedFeed[]): void;
  /** Deletes the state of a feed that does not run. Keeps the checkpoints and gaps of the feed. Returns false if there is no such feed. */
  forgetFeed(feed: string): boolean;
  /** Records that a poll began. Until the new poll ends, the results of the previous poll stay valid. */
  pollBegan(feed: string, at: number): void;
  pollEnded(poll: EndedPoll): void;
  snapshotReceived(snapshot: ReceivedSnapshot): void;
  /** Records that prints, closes or dividends arrived. */
  dataReceived(feed: string, at: number): void;
  /** Records a rejection. If one origin is rejected repeatedly, stores the last rejection and the number of rejections. */
  rejected(rejection: Rejection): void;
  /** Removes the rejections of one origin, or the rejections of one ticker from every origin. */
  resolved(feed: string, source: { readonly origin: string } | { readonly ticker: string }): void;
  /** Records that a stream connected or disconnected. The time from a disconnection to the next connection becomes a gap. */
  connection(feed: string, up: boolean, at: number, reason: string | null): void;
  /** Records the progress of a feed's backfill. */
  pastFilled(feed: string, past: PastProgress): void;
  /** Returns the gaps that overlap a period, the newest gap first. A gap is a period in which the stream of a feed was down. */
  gapsIn(fromMs: number, toMs: number): Gap[];
  feedStates(): readonly FeedState[];
  /**
   * Corrects the state after the clock was set. Shifts the moments since `sinceMs` by `byMs`, because the clock that wrote them was wrong by
   * this time. Forgets the moments that are still after `nowMs`. Records the step if `byMs` is not 0.
   */
  clockStepped(step: { readonly sinceMs: number; readonly byMs: number; readonly nowMs: number }): void;
  /** Returns the last steps of the clock, the newest step first. */
  clockSteps(): readonly ClockStep[];
}

/** The state of the feeds without the writes, which the ledger decides. */
export type KnownFeeds = Pick<FeedLedger, 'checkpoints' | 'gapsIn' | 'feedStates' | 'clockSteps'>;

/** A step of the machine's clock. */
export interface ClockStep {
  /** The moment of the step by the new time, ms since the epoch. */
  readonly at: number;
  /** How far the clock was set, ms. Negative if the clock was set back. */
  readonly byMs: number;
}

/** A running feed, with the tickers that it requests. */
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

/** A snapshot from a feed, even if the snapshot contains nothing new. */
export interface ReceivedSnapshot {
  readonly feed: string;
  readonly ticker: string;
  readonly at: number;
  readonly asOf: number;
  /** Whether the snapshot is newer than every previous snapshot of this ticker. */
  readonly isFresh: boolean;
  /** The number of contracts that the source listed or, if larger, of unsettled contracts in the last stored snapshot. */
  readonly expected: number;
  readonly received: number;
  /** Numbers of rejected rows, by reason. NO_OPEN_INTEREST and ONE_EXPIRY are no rejections: they count the contracts of notable chains. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The names of the counts of contracts in a snapshot without open interest, and in one with a single expiry. */
export const NO_OPEN_INTEREST = 'no_open_interest';
export const ONE_EXPIRY = 'one_expiry';

/** A rejection of market data. `origin` is a file, the ticker of a provider, or a stream. `at` is in ms since the epoch. */
export interface Rejection {
  readonly feed: string;
  readonly origin: string;
  readonly reason: string;
  readonly ticker: string | null;
  readonly at: number;
}

/** The state of one feed. Moments are ms since the epoch. The moment of an event is null if the event has not occurred yet. */
export interface FeedState {
  readonly feed: string;
  readonly simulated: boolean;
  readonly polledAt: number | null;
  readonly completedAt: number | null;
  readonly nextAt: number | null;
  /** The last time at which the feed delivered a snapshot, prints, closes or dividends. */
  readonly dataAt: number | null;
  readonly error: string | null;
  /** Null if the feed has no stream, or if its stream has not connected yet. */
  readonly connection: { readonly up: boolean; readonly at: number; readonly reason: string | null } | null;
  /** Null if the feed has no backfill. */
  readonly past: PastProgress | null;
  readonly tickers: readonly TickerState[];
  /** The last rejections, the newest rejection first. */
  readonly refusals: readonly (Omit<Rejection, 'feed'> & { readonly times: number })[];
  /** Periods in which the stream was down, the newest period first. `to` is null while the stream is down. */
  readonly gaps: readonly Gap[];
}

/** Progress of the simulated market's backfill. The numbers count the snapshots of all tickers. */
export interface PastProgress {
  /** Number of snapshots that are stored with all their levels. */
  readonly done: number;
  readonly total: number;
}

/** A period in which the stream of a feed was down. Moments are ms since the epoch. */
export interface Gap {
  readonly from: number;
  readonly to: number | null;
  readonly reason: string;
}

/** The state of one ticker of a feed. Moments are ms since the epoch. The moment of an event is null if the event has not occurred yet. */
export interface TickerState {
  readonly ticker: string;
  readonly attemptedAt: number | null;
  /** The arrival time of the newest snapshot. Only a snapshot that is newer than the previous snapshot changes `freshAt`. */
  readonly freshAt: number | null;
  readonly asOf: number | null;
  readonly expected: number | null;
  readonly received: number | null;
  readonly refused: Readonly<Record<string, number>>;
  /** Times between the last fresh snapshots, ms of trading hours, the newest first. Snapshots that arrive in one poll count as one. */
  readonly gaps: readonly number[];
  /** Number of consecutive attempts that brought no snapshot. */
  readonly failures: number;
  /** The reason why the last failed attempt brought no snapshot. */
  readonly refusal: string | null;
}
