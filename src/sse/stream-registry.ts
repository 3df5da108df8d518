import type { Account } from '../access/access.ts';
import { AccountCounts } from '../access/account-counts.ts';
import { ClientError } from '../core/errors.ts';
import type { StreamEnd } from '../core/events.ts';
import type { StreamQueue } from './bounded-stream.ts';

/** The properties of an open stream for the stream registry. Times are in ms of `performance.now()`. */
export interface RegisteredStream {
  readonly account: Account;
  /** Address and port of the client. Undefined if the connection is unknown. */
  readonly peer?: string | undefined;
  readonly queue: StreamQueue;
  /** Returns whether the client has not answered a ping for too long. */
  isSilent?(nowMs: number): boolean;
  /** Sends an empty message, so that no proxy closes the stream as idle. */
  ping(nowMs: number): void;
  end(reason: StreamEnd): void;
}

/** Checks open streams regularly, and enforces their limits. */
export type StreamRegistry = ReturnType<typeof createStreamRegistry>;

/** Limits of open streams. Times are in ms. */
export interface StreamLimits {
  /** Time between two checks of all streams. Streams of a revoked key end within twice `sweepEveryMs`. */
  readonly sweepEveryMs: number;
  /** Time between two pings, which is shorter than the idle timeouts of proxies between server and client. */
  readonly pingMs: number;
  /** A stream ends after this time if data waits and the client reads nothing. */
  readonly behindMs: number;
  /** Maximum of unread bytes in all streams of an account. The streams behind that exceed the sum, from the oldest on, end. */
  readonly accountUnreadBytesMax: number;
  /** Maximum number of unread bytes in the streams of all accounts. The limit works like `accountUnreadBytesMax`. */
  readonly allUnreadBytesMax: number;
  /** A stream ends at this age, and its client reconnects. The age limit also ends lost connections and frees leaked resources. */
  readonly ageMs: number;
  readonly streamsMax: number;
  /** Maximum number of streams of one account. `accountGivingWay` also limits them while `streamsMax` streams are open. */
  readonly accountStreamsMax: number;
}

export const STREAM_LIMITS: StreamLimits = {
  sweepEveryMs: 2_000,
  pingMs: 15_000,
  behindMs: 10_000,
  accountUnreadBytesMax: 64 * 1024 * 1024,
  allUnreadBytesMax: 512 * 1024 * 1024,
  ageMs: 24 * 3_600_000,
  streamsMax: 4_000,
  accountStreamsMax: 500,
};

/** Creates a registry. One timer pings streams, and ends those behind, silent, too old, or of an account without access. */
export function createStreamRegistry(limits: StreamLimits) {
  const { pingMs, behindMs, accountUnreadBytesMax, allUnreadBytesMax, ageMs, streamsMax, accountStreamsMax } = limits;
  /** The open streams with their start times, oldest stream first. */
  const streams = new Map<RegisteredStream, number>();
  const counts = new AccountCounts();
  let timer: ReturnType<typeof setInterval> | undefined;
  let pingedMs = 0;
  let closed = false;

  const remove = (stream: RegisteredStream): boolean => {
    if (!streams.delete(stream)) return false;
    counts.remove(stream.account.id);
    if (streams.size === 0) clearInterval(timer);
    return true;
  };

  const end = (stream: RegisteredStream, reason: StreamEnd): void => {
    if (remove(stream)) stream.end(reason);
  };

  const sweep = (): void => {
    const nowMs = performance.now();
    const isPingDue = nowMs - pingedMs >= pingMs;
    if (isPingDue) pingedMs = nowMs;
    const admitted = new Map<string, boolean>();
    const unread = new Map<string, number>();
    let unreadOfAll = 0;
    for (const [stream, sinceMs] of streams) {
      const { account, queue } = stream;
      const { behindSince, unreadBytes } = queue;
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
      else if (isPingDue) stream.ping(nowMs);
    }
  };

  /** Ends the oldest stream of the account that gives way to an account, if there is one. */
  const makeRoom = (accountId: string): void => {
    const giving = counts.accountGivingWay(streamsMax, accountId);
    const oldest = giving && streams.keys().find(({ account }) => account.id === giving);
    if (oldest) end(oldest, 'share');
  };

  return {
    /** Throws `ClientError` if one more stream exceeds the account's limit (429) or that of all (503). At the latter, makes room first. */
    assertCapacity({ id }: Account) {
      if (counts.of(id) >= accountStreamsMax) {
        throw new ClientError(
          'too_many_streams',
          `This account has ${accountStreamsMax} open streams, which is its limit`,
          { hint: 'Close idle streams, or use one stream for several tickers or calls.' },
        );
      }
      if (streams.size >= streamsMax) makeRoom(id);
      if (closed || streams.size >= streamsMax) {
        throw new ClientError('unavailable', 'The server cannot open more streams now', {
          hint: 'Close idle streams, or retry later.',
        });
      }
    },
    /** Yields the address and port of each client whose connection is known. */
    *peers() {
      for (const { peer } of streams.keys()) if (peer !== undefined) yield peer;
    },
    add(stream: RegisteredStream) {
      if (streams.size === 0) {
        pingedMs = performance.now();
        timer = setInterval(sweep, limits.sweepEveryMs);
      }
      streams.set(stream, performance.now());
      counts.add(stream.account.id);
    },
    /** Removes a stream that ended by itself or whose client disconnected. Returns false if the stream was not registered. */
    remove,
    /** Returns the number of open streams of an account. */
    streamsOf: (accountId: string) => counts.of(accountId),
    /** Ends all streams, and prevents new streams. */
    close() {
      closed = true;
      for (const stream of streams.keys()) end(stream, 'shutdown');
    },
    get size() {
      return streams.size;
    },
  };
}

/** Returns whether the account has access. Returns true if the check itself fails, because a busy store must not end streams. */
function isAdmitted(account: Account): boolean {
  try {
    return account.isAdmitted();
  } catch {
    return true;
  }
}
