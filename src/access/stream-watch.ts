import { Failure } from '../errors.ts';
import type { Account } from './access.ts';
import { AccountCounts } from './account-counts.ts';

/** Why a stream ended; `share`: all places were taken, its account had more than its share of them, and another needed one. */
export type StreamEnd = 'client' | 'behind' | 'silent' | 'access' | 'age' | 'share' | 'shutdown';

/** An open stream, as its watch sees it. Times are of `performance.now()`, ms. */
export interface WatchedStream {
  readonly account: Account;
  /** Address and port of its client, where its connection is known. */
  readonly peer?: string | undefined;
  /** When its client took anything last while more waited for it; undefined where it has all there is. */
  readonly behindSince: number | undefined;
  /** What waits for its client in memory. */
  readonly unreadBytes?: number;
  /** Whether its client was asked for a sign of life, and has given none for too long. */
  isSilent?(nowMs: number): boolean;
  /** Writes something that says nothing, so that nobody between here and the client takes the stream for dead. */
  ping(nowMs: number): void;
  end(reason: StreamEnd): void;
}

export interface StreamWatch {
  /**
   * Throws `Failure` where one more would be too many: of the account 429, of all 503. Ask before anything is made for it. If all places are
   * taken, the account with the most gives way to one that has less than its share.
   */
  refuseTooMany(account: Account): void;
  add(stream: WatchedStream): void;
  /** Its client is gone, or it has ended by itself. False where that was known. */
  remove(stream: WatchedStream): boolean;
  /** Ends every stream; there are none from now on. */
  close(): void;
  /** Clients whose connections are known. */
  peers(): Iterable<string>;
  readonly size: number;
}

export interface StreamLimits {
  /** How often streams are looked at: a key that was revoked is cut within twice that. */
  readonly lookMs: number;
  /** Below every idle limit between here and a client. */
  readonly pingMs: number;
  /** A client that takes nothing for so long, with more to come, is cut. */
  readonly behindMs: number;
  /** What may wait for the clients of one account, all its streams together; those beyond it that are behind are cut. */
  readonly accountUnreadBytesMax: number;
  /** The same of all accounts. */
  readonly allUnreadBytesMax: number;
  /** A stream as old as that is ended: its client comes back, and what was lost or leaked on the way goes with it. */
  readonly ageMs: number;
  readonly streamsMax: number;
  /** Of one account. Once all places are taken, a quarter of them is its share. */
  readonly accountStreamsMax: number;
}

export const STREAM_LIMITS: StreamLimits = {
  lookMs: 2_000,
  pingMs: 15_000,
  behindMs: 10_000,
  accountUnreadBytesMax: 64 * 1024 * 1024,
  allUnreadBytesMax: 512 * 1024 * 1024,
  ageMs: 24 * 3_600_000,
  streamsMax: 4_000,
  accountStreamsMax: 500,
};

/** Of all places; what an account has beyond that it gives back when others need it. */
export const ACCOUNT_SHARE = 1 / 4;

/** Looks after open streams with one timer for all: cuts who takes nothing, may no longer, or has been there for too long, and pings the rest. */
export function createStreamWatch(limits: StreamLimits): StreamWatch {
  const { lookMs, pingMs, behindMs, accountUnreadBytesMax, allUnreadBytesMax, ageMs, streamsMax, accountStreamsMax } =
    limits;
  /** With the time from which on each is there, the oldest first. */
  const streams = new Map<WatchedStream, number>();
  const counts = new AccountCounts();
  let looking: ReturnType<typeof setInterval> | undefined;
  let pingedAt = 0;
  let closed = false;

  const remove = (stream: WatchedStream): boolean => {
    if (!streams.delete(stream)) return false;
    counts.remove(stream.account.id);
    if (streams.size === 0) clearInterval(looking);
    return true;
  };

  const end = (stream: WatchedStream, reason: StreamEnd): void => {
    if (remove(stream)) stream.end(reason);
  };

  const look = (): void => {
    const nowMs = performance.now();
    const pings = nowMs - pingedAt >= pingMs;
    if (pings) pingedAt = nowMs;
    const admitted = new Map<string, boolean>();
    const unread = new Map<string, number>();
    let unreadOfAll = 0;
    for (const [stream, sinceMs] of streams) {
      const { account, behindSince, unreadBytes = 0 } = stream;
      const waiting = (unread.get(account.id) ?? 0) + unreadBytes;
      unread.set(account.id, waiting);
      unreadOfAll += unreadBytes;
      if (!admitted.has(account.id)) admitted.set(account.id, isAdmitted(account));
      if (!admitted.get(account.id)) end(stream, 'access');
      else if (behindSince !== undefined && nowMs - behindSince >= behindMs) end(stream, 'behind');
      else if (behindSince !== undefined && waiting > accountUnreadBytesMax) end(stream, 'behind');
      else if (behindSince !== undefined && unreadOfAll > allUnreadBytesMax) end(stream, 'behind');
      else if (nowMs - sinceMs >= ageMs) end(stream, 'age');
      else if (stream.isSilent?.(nowMs)) end(stream, 'silent');
      else if (pings) stream.ping(nowMs);
    }
  };

  /** Ends the oldest stream of the account with the most, if that is more than the share of an account. */
  const makeRoom = (): void => {
    const largest = counts.largest(ACCOUNT_SHARE * streamsMax);
    const oldest = largest && streams.keys().find(({ account }) => account.id === largest);
    if (oldest) end(oldest, 'share');
  };

  return {
    refuseTooMany({ id }) {
      if (counts.of(id) >= accountStreamsMax) {
        throw new Failure('too_many_streams', `This account has ${accountStreamsMax} streams open, the most it may`, {
          hint: 'Close idle streams, or use one for several things.',
        });
      }
      if (streams.size >= streamsMax && counts.of(id) < ACCOUNT_SHARE * streamsMax) makeRoom();
      if (closed || streams.size >= streamsMax) {
        throw new Failure('unavailable', 'No more streams can be opened now', {
          hint: 'Close idle streams, or retry later.',
        });
      }
    },
    *peers() {
      for (const { peer } of streams.keys()) if (peer !== undefined) yield peer;
    },
    add(stream) {
      if (streams.size === 0) {
        pingedAt = performance.now();
        looking = setInterval(look, lookMs);
      }
      streams.set(stream, performance.now());
      counts.add(stream.account.id);
    },
    remove,
    close() {
      closed = true;
      for (const stream of streams.keys()) end(stream, 'shutdown');
    },
    get size() {
      return streams.size;
    },
  };
}

/** A defect, a store that is busy say, takes nobody's access away. */
function isAdmitted(account: Account): boolean {
  try {
    return account.isAdmitted();
  } catch {
    return true;
  }
}
