import { Type } from '@sinclair/typebox';
import type { Account } from '../../access/access.ts';
import { ClientError } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Observe, StreamEnd } from '../../core/events.ts';
import { oneStep } from '../../core/steps.ts';
import type { Market } from '../../market/market.ts';
import type { Scheduler } from '../../operations/engine/scheduler.ts';
import { ticker } from '../../operations/engine/shared-fields.ts';
import { validate } from '../../operations/engine/validate.ts';
import { CROSSING_KINDS, type CrossingKind } from '../../operations/gex/level-crossings.ts';
import { sseResponse } from '../../sse/sse-format.ts';
import {
  createStreamRegistry,
  type RegisteredStream,
  STREAM_LIMITS,
  type StreamLimits,
} from '../../sse/stream-registry.ts';
import { onlyValue } from '../http-app.ts';
import { type EventId, parseEventId } from './event-ids.ts';
import type { GexEvents } from './gex-events.ts';
import { createSubscription, type Subscription } from './gex-subscription.ts';

export interface GexStreamDeps {
  readonly events: GexEvents;
  readonly market: Pick<Market, 'tracked'>;
  readonly scheduler: Scheduler;
  readonly observe: Observe;
  readonly limits?: Partial<StreamLimits>;
}

interface GexStreamRequest {
  readonly account: Account;
  readonly headers: Headers;
  /** The requested tickers, as in the path: separated by commas. The router gives null if the path has a malformed percent escape. */
  readonly tickers: string | null;
  readonly query: URLSearchParams;
  /** The client's address and port. Undefined if the connection is not known. */
  readonly peer?: string | undefined;
}

export type GexStreams = ReturnType<typeof createGexStreams>;

/**
 * The server collects levels for this time, ms, and then sends them to each socket in one write. Snapshots arrive in batches. If many
 * streams are open, the server collects levels for BATCH_FACTOR times the duration of its last round of writes, but for at most
 * BATCH_MS_MAX. A round then has more levels per write, and the writes take at most a fifth of the main thread.
 */
const BATCH_MS = 20;
const BATCH_FACTOR = 4;
const BATCH_MS_MAX = 250;
/** Number of streams that the server writes to in one step. A step takes a few milliseconds. */
const STREAMS_AT_ONCE = 64;

/** Creates the streams of live levels, in the format SSE. A client can resume an ended stream with the id of the last event. */
export function createGexStreams({ events, market, scheduler, observe, limits }: GexStreamDeps) {
  const registry = createStreamRegistry({ ...STREAM_LIMITS, ...limits });
  const subscriptions = new Set<Subscription>();
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSending = false;
  /** Whether levels may have arrived that the current round does not send. */
  let isDue = false;
  let roundMs = 0;

  const schedule = (delayMs: number): void => {
    isDue = true;
    if (!closed && !isSending) timer ??= setTimeout(sendRound, delayMs);
  };
  const batchMs = () => Math.min(BATCH_MS_MAX, Math.max(BATCH_MS, BATCH_FACTOR * roundMs));
  const sendRound = async (): Promise<void> => {
    const startedMs = performance.now();
    timer = undefined;
    [isSending, isDue] = [true, false];
    let hasMore = false;
    try {
      announceStep('live levels');
      // Another process may have stored many levels. Between two reads, other work can run.
      hasMore = events.refresh();
    } catch (error) {
      observe({ kind: 'levels_failed', snapshot: null, error });
    }
    let woken = 0;
    for (const subscription of subscriptions) {
      subscription.wake();
      if (++woken % STREAMS_AT_ONCE > 0) continue;
      await new Promise(setImmediate);
      announceStep('live levels');
    }
    roundMs = performance.now() - startedMs;
    isSending = false;
    if (hasMore || isDue) schedule(hasMore ? 0 : batchMs());
  };

  /** Reads the log in a job that does not count towards the account's limit: a stream reads one page at a time, and streams are limited. */
  const runInScheduler = async <Result>(account: string, work: () => Result): Promise<Result> =>
    scheduler.run({ account, name: 'live replay', steps: oneStep(work), isCounted: false });

  return {
    /** Opens a stream of the levels of tickers. Throws `ClientError`: 400 for an invalid request, 429 or 503 if a limit is reached. */
    open(request: GexStreamRequest) {
      const { account, peer } = request;
      const selection = { tickers: tickersOf(request, market), on: kindsOf(request) };
      const after = lastEventIdOf(request);
      registry.assertCapacity(account);
      const onStreamEnd = (reason: StreamEnd): void => {
        subscriptions.delete(subscription);
        observe({ kind: 'stream_closed', account: account.id, reason, streams: registry.size });
      };
      const subscription = createSubscription({
        events,
        selection,
        after,
        runScheduled: (work) => runInScheduler(account.id, work),
        onClose: () => registry.remove(registered) && onStreamEnd('client'),
      });
      const registered: RegisteredStream = {
        account,
        peer,
        queue: subscription.stream,
        ping: subscription.ping,
        end(reason) {
          subscription.end(reason === 'behind');
          onStreamEnd(reason);
        },
      };
      subscriptions.add(subscription);
      registry.add(registered);
      observe({ kind: 'stream_opened', account: account.id, streams: registry.size });
      return sseResponse(subscription.stream.body);
    },
    /** Callers must call this function whenever there may be new levels. A call takes little time. */
    wake() {
      schedule(batchMs());
    },
    close() {
      closed = true;
      clearTimeout(timer);
      registry.close();
    },
    peers: registry.peers,
    streamsOf: registry.streamsOf,
    get size() {
      return registry.size;
    },
  };
}

/** Maximum number of tickers in a stream, equal to the maximum of a universe. */
const TICKERS_MAX = 1_000;

/** Returns the tickers of a request once each. Throws `ClientError` (400) if there are too many, or one is malformed or not tracked. */
function tickersOf({ tickers }: GexStreamRequest, market: Pick<Market, 'tracked'>): ReadonlySet<string> {
  const given = [...new Set(tickers?.split(',') ?? [''])];
  if (given.length > TICKERS_MAX) {
    throw invalidParameter('Too many tickers', '/ticker', `must be at most ${TICKERS_MAX} tickers`);
  }
  return new Set(
    given.map((each) => {
      validate(ONE_TICKER, { ticker: each }, 'invalid_parameter');
      return market.tracked(each);
    }),
  );
}

const ONE_TICKER = Type.Object({ ticker });

/** Returns the kinds of crossings to which `on` restricts the stream, or undefined. Throws `ClientError` (400) for any other value. */
function kindsOf({ query }: GexStreamRequest): ReadonlySet<CrossingKind> | undefined {
  if (!query.has('on')) return undefined;
  const given = query.getAll('on').flatMap((each) => each.split(','));
  const kinds = CROSSING_KINDS.filter((each) => given.includes(each));
  if (given.every((each) => kinds.some((kind) => kind === each))) return new Set(kinds);
  throw invalidParameter(
    'on names an event that does not exist',
    '/on',
    `must be one or more of ${CROSSING_KINDS.join(', ')}, separated by commas`,
    `Send GET /api/v1/stream/gex/SPY?on=${CROSSING_KINDS.join(',')}, or leave on out for an event for each snapshot.`,
  );
}

/** Returns the id of the client's last event, or undefined if it has none. Throws `ClientError` (400) if the id is malformed. */
function lastEventIdOf({ headers, query }: GexStreamRequest): EventId | number | undefined {
  const text = headers.get('last-event-id') ?? onlyValue(query, 'last_event_id');
  if (text === null) return undefined;
  const id = parseEventId(text);
  if (id !== undefined) return id;
  throw invalidParameter(
    'Last-Event-ID is not the id of an event',
    '/last_event_id',
    'must be the id of an event, unchanged',
  );
}

function invalidParameter(message: string, field: string, expected: string, hint = USAGE_HINT): ClientError {
  return new ClientError('invalid_parameter', message, { hint, fieldErrors: [{ field, expected }] });
}

const USAGE_HINT =
  'Send GET /api/v1/stream/gex/SPY,QQQ, with the id of the last event in the header Last-Event-ID to resume after it.';
