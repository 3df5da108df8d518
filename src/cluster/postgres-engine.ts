import type { SQL } from 'bun';
import { withinMs } from '../core/within-ms.ts';
import { BellListener } from './bell-listener.ts';
import { EngineAway, LATER_HINT, replacedPrimary, START_HINT, seconds, waitingForStandby } from './engine-errors.ts';
import { findPrimary, isPrimary, isReplaced, type KnownTimeline, timelineOf } from './find-primary.ts';
import {
  openClient,
  PostgresSession,
  type SessionOptions,
  type Transaction,
  type TransactionOptions,
  type TransactionWork,
} from './postgres-session.ts';
import { Slots } from './slots.ts';
import type { StoreHost, StoreUrl } from './store-url.ts';

/** Connections to the primary among several hosts. */
export interface Engine {
  /**
   * Runs work in one transaction on the primary. Rejects with `EngineAway` if no primary can be reached, the connection is lost or the deadline
   * passes, with `EngineRefused` if the server refuses the connection or a statement, or with the error of the work. Nothing is tried again. If
   * the connection breaks while COMMIT is in progress, `outcomeUnknown` of the error is true.
   */
  transaction<T>(work: TransactionWork<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Calls the listener at each notification of the channel, and after each new connection, because notifications may have been lost. A
   * notification can also come late or never: callers must look by themselves, too.
   */
  onBell(channel: string, listener: () => void): Disposable;
  /** Takes no primary of an older timeline than this one, or than one that it has seen itself. */
  outdate(known: KnownTimeline): void;
  readonly state: EngineState;
  /** Closes all connections. What still runs rejects with `EngineAway`. */
  close(): Promise<void>;
}

export interface EngineState {
  /** The primary, e.g. `db1:5432`. Null if it is not known. */
  readonly host: string | null;
  /** The timeline of the primary, which grows by one with each promotion. Null if the primary is not known. */
  readonly timeline: number | null;
  /** Since when the primary is known or unknown, ms on the monotonic clock (`performance.now()`). */
  readonly sinceMs: number;
  /** When the primary last answered, ms on the monotonic clock. Null if it never has. */
  readonly lastContactMs: number | null;
  /** Why the engine is away, in one sentence. Null if it is not. */
  readonly problem: string | null;
}

export interface EngineOptions {
  /** The name of this replica. Its sessions are `zomma/<replica>` in `pg_stat_activity`. */
  readonly replica: string;
  /** The deadline of a transaction that names none, ms. */
  readonly deadlineMs?: number;
  /** The time to open a connection and to begin a transaction, ms. */
  readonly connectMs?: number;
  /** The maximum number of transactions at once. */
  readonly sessionsMax?: number;
  /** The interval of the heartbeat of `onBell`, ms. */
  readonly beatMs?: number;
  /** The interval at which the other hosts are asked whether one of them has been promoted, ms. */
  readonly lookMs?: number;
  readonly leastVersion?: number;
  /** Is called when the primary or the problem changes. */
  readonly onState?: (state: EngineState) => void;
}

const DEFAULTS = {
  deadlineMs: 5_000,
  connectMs: 2_000,
  // An append, the follower, the members, and one more.
  sessionsMax: 4,
  beatMs: 5_000,
  lookMs: 10_000,
  leastVersion: 150_000,
};

/** The pause after an error of a connection, ms. It bounds the connections per second to a server that refuses them. */
const PAUSE_MS = 250;
/** Time to find out why a transaction has passed its deadline, ms. A primary that is silent is to be given up soon. */
const EXPLAIN_MS = 300;
/** Postgres cuts longer names. */
const NAME_MAX = 63;

/** Returns an engine for a URL. It opens no connection before the first transaction or listener. */
export function openEngine(url: StoreUrl, options: EngineOptions): Engine {
  return new PostgresEngine(url, options);
}

class PostgresEngine implements Engine {
  readonly #url: StoreUrl;
  readonly #options: Required<Omit<EngineOptions, 'onState'>> & Pick<EngineOptions, 'onState'>;
  readonly #sessionOptions: SessionOptions;
  readonly #slots: Slots;
  readonly #sessions = new Set<PostgresSession>();
  readonly #idle = new Set<PostgresSession>();
  /** Sessions from before the last drop. They end with their transactions, and their errors say nothing about the primary of now. */
  readonly #stale = new WeakSet<PostgresSession>();
  readonly #bells: BellListener;
  readonly #look: NodeJS.Timeout | undefined;
  #primary: { readonly host: StoreHost; readonly system: string; readonly timeline: number } | undefined;
  #known: KnownTimeline | undefined;
  #finding: Promise<StoreHost> | undefined;
  #pauseUntilMs = 0;
  #isClosed = false;
  #state: EngineState = { host: null, timeline: null, sinceMs: performance.now(), lastContactMs: null, problem: null };

  constructor(url: StoreUrl, options: EngineOptions) {
    this.#url = url;
    this.#options = { ...DEFAULTS, ...options };
    const { replica, connectMs, leastVersion, sessionsMax, beatMs, lookMs } = this.#options;
    this.#sessionOptions = { application: `zomma/${replica}`.slice(0, NAME_MAX), connectMs, leastVersion };
    this.#slots = new Slots(sessionsMax);
    this.#bells = new BellListener({
      open: (onclose) => this.#openListener(onclose),
      notify: (channel) => this.#notify(channel),
      beatMs,
      beatMaxMs: connectMs,
      pauseMs: PAUSE_MS,
    });
    if (url.hosts.length > 1) this.#look = setInterval(() => this.#lookForPromotion(), lookMs).unref();
  }

  get state(): EngineState {
    return this.#state;
  }

  async transaction<T>(work: TransactionWork<T>, options: TransactionOptions = {}): Promise<T> {
    const deadlineMs = options.deadlineMs ?? this.#options.deadlineMs;
    const endMs = performance.now() + deadlineMs;
    if (!this.#isClosed && !(await this.#slots.take(deadlineMs)) && !this.#isClosed) throw busy();
    if (this.#isClosed) throw closed();
    try {
      const session = await this.#takeSession(deadlineMs, endMs);
      try {
        return await session.transaction(work, { ...options, deadlineMs: Math.max(1, endMs - performance.now()) });
      } catch (thrown) {
        if (this.#isClosed) throw closed(thrown);
        const error = await this.#explained(thrown, session);
        const isLost = error instanceof EngineAway && (!session.isOpen || error.reason === 'no-primary');
        // The connections are sound while COMMIT waits for a standby.
        if (isLost && error.reason !== 'standby' && !this.#stale.has(session)) this.#drop(error);
        throw error;
      } finally {
        if (session.isOpen && !this.#stale.has(session))
          this.#update({ lastContactMs: performance.now(), ...(this.#primary && { problem: null }) });
        this.#giveBack(session);
      }
    } finally {
      this.#slots.give();
    }
  }

  /** Returns an error that says so if a deadline has passed because the primary waits for a synchronous standby. */
  async #explained(error: unknown, { host }: PostgresSession): Promise<unknown> {
    if (!(error instanceof EngineAway && error.reason === 'deadline')) return error;
    const options = { ...this.#sessionOptions, connectMs: EXPLAIN_MS };
    const asking = await PostgresSession.open(this.#url, host, options).catch(() => undefined);
    const ask = (sql: Transaction) => sql`
      select 1 as one from pg_stat_activity where usename = current_user and wait_event = 'SyncRep' limit 1`;
    const waiting = await asking?.transaction(ask, { deadlineMs: EXPLAIN_MS }).catch(() => []);
    asking?.close();
    return waiting?.length ? waitingForStandby(host.text, error) : error;
  }

  onBell(channel: string, listener: () => void): Disposable {
    return this.#bells.add(channel, listener);
  }

  outdate(known: KnownTimeline): void {
    if (this.#known?.system === known.system && this.#known.timeline >= known.timeline) return;
    this.#known = known;
    const primary = this.#primary;
    if (primary?.system === known.system && primary.timeline < known.timeline)
      this.#drop(replacedPrimary(primary.host.text, primary.timeline, known.timeline));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#look);
    this.#bells[Symbol.dispose]();
    for (const session of this.#sessions) session.close();
    this.#slots.close();
  }

  /** Resolves with a session that no other transaction uses. */
  async #takeSession(deadlineMs: number, endMs: number): Promise<PostgresSession> {
    const session = this.#freeSession();
    if (await withinMs(endMs - performance.now(), session)) return session;
    // The session comes too late for this transaction, and is there for the next one.
    session.then(
      (late) => this.#giveBack(late),
      () => {},
    );
    throw new EngineAway(
      'unreachable',
      `no connection to ${this.#url.text} within ${seconds(deadlineMs)}`,
      this.#state.problem ?? START_HINT,
    );
  }

  async #freeSession(): Promise<PostgresSession> {
    const host = this.#primary?.host ?? (await this.#find());
    for (const session of this.#idle) {
      this.#idle.delete(session);
      if (session.isOpen) return session;
      this.#sessions.delete(session);
    }
    const session = await PostgresSession.open(this.#url, host, this.#sessionOptions).catch((error: unknown) => {
      if (this.#primary?.host === host) this.#drop(error);
      throw error;
    });
    this.#admit(session);
    if (isPrimary(session) && !isReplaced(session, this.#known)) return session;
    const error = new EngineAway('no-primary', `${host.text} is no longer the primary`, LATER_HINT);
    this.#drop(error);
    throw error;
  }

  /** Finds the primary. Several transactions that need it wait for one search. */
  #find(): Promise<StoreHost> {
    this.#finding ??= (async () => {
      await Bun.sleep(Math.max(0, this.#pauseUntilMs - performance.now()));
      const session = await findPrimary(this.#url, this.#sessionOptions, this.#known);
      this.#admit(session);
      this.#idle.add(session);
      const { host } = session;
      this.#primary = { host, system: session.role.system, timeline: timelineOf(session) };
      this.outdate(this.#primary);
      this.#update({ host: host.text, timeline: this.#primary.timeline, sinceMs: performance.now(), problem: null });
      return host;
    })()
      .catch((error: unknown) => {
        this.#drop(error);
        throw error;
      })
      .finally(() => {
        this.#finding = undefined;
      });
    return this.#finding;
  }

  #admit(session: PostgresSession): void {
    this.#sessions.add(session);
    session.onLost = (error) => {
      this.#sessions.delete(session);
      this.#idle.delete(session);
      if (!this.#stale.has(session)) this.#drop(error);
    };
    if (!this.#isClosed) return;
    session.close();
    throw closed();
  }

  #giveBack(session: PostgresSession): void {
    if (session.isOpen && !this.#stale.has(session)) this.#idle.add(session);
    else {
      session.close();
      this.#sessions.delete(session);
    }
  }

  /** Forgets the primary and all idle sessions, because what one connection has met can hold for all: pools with dead connections stay silent. */
  #drop(error: unknown): void {
    if (this.#isClosed) return;
    for (const session of this.#sessions) this.#stale.add(session);
    for (const session of this.#idle) this.#giveBack(session);
    this.#idle.clear();
    const hadPrimary = this.#primary !== undefined;
    this.#primary = undefined;
    this.#pauseUntilMs = performance.now() + PAUSE_MS;
    const problem = (error as Error).message;
    this.#update({ host: null, timeline: null, problem, ...(hadPrimary && { sinceMs: performance.now() }) });
    if (hadPrimary) this.#bells.restart();
  }

  #update(change: Partial<EngineState>): void {
    const before = this.#state;
    this.#state = { ...before, ...change };
    const { host, problem } = this.#state;
    if (host !== before.host || problem !== before.problem) this.#options.onState?.(this.#state);
  }

  async #openListener(onclose: () => void): Promise<SQL> {
    const host = this.#primary?.host ?? (await this.#find());
    return openClient(this.#url, host, this.#sessionOptions, onclose);
  }

  /** Notifies without a wait for a synchronous standby, because nothing is stored. */
  async #notify(channel: string): Promise<void> {
    const notify = (sql: Transaction) =>
      sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, '')`;
    await this.transaction(notify, { deadlineMs: this.#options.connectMs });
  }

  /** Looks whether another host has been promoted, while the old primary still runs. No error of a connection would say so. */
  async #lookForPromotion(): Promise<void> {
    const primary = this.#primary;
    if (primary === undefined) return;
    for (const host of this.#url.hosts.filter((each) => each !== primary.host)) {
      const session = await PostgresSession.open(this.#url, host, this.#sessionOptions).catch(() => undefined);
      session?.close();
      if (!isPrimary(session) || timelineOf(session) <= primary.timeline || this.#primary !== primary) continue;
      this.#drop(
        new EngineAway('no-primary', `${host.text} was promoted while ${primary.host.text} still runs`, LATER_HINT),
      );
    }
  }
}

function closed(cause?: unknown): EngineAway {
  return new EngineAway('closed', 'the connections to the store are closed', 'The process stops.', { cause });
}

function busy(): EngineAway {
  return new EngineAway('full', 'all connections of this process to the store are busy', LATER_HINT);
}
