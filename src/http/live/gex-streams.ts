import type { Access, Account } from '../../access/access.ts';
import { Failure } from '../../errors.ts';
import type { Observe } from '../../events.ts';
import type { Market } from '../../market/market.ts';
import type { GexEvents } from './gex-events.ts';
import { type GexStreamRequest, placeOf, tickersOf } from './gex-stream-request.ts';
import { createSubscription, type Subscription } from './gex-subscription.ts';

export interface GexStreamParts {
  readonly events: GexEvents;
  readonly market: Pick<Market, 'tracked'>;
  readonly access: Pick<Access, 'authenticate'>;
  readonly observe: Observe;
  readonly timing?: Partial<Timing>;
}

export interface GexStreams {
  /** A stream of the levels of tickers. Throws `Failure`: 400 for what cannot be followed, 429 and 503 at the limits. */
  open(request: GexStreamRequest): Response;
  /** There may be new levels. Costs little: call it at each. */
  wake(): void;
  /** Ends every stream. */
  close(): void;
  readonly size: number;
}

interface Timing {
  /** How often streams are looked at: a key that was revoked is cut within twice that. */
  readonly lookMs: number;
  /** Below every idle limit between here and a client. */
  readonly pingMs: number;
  /** A client that takes nothing for so long, with more to come, is cut. */
  readonly behindMs: number;
}

const TIMING: Timing = { lookMs: 2_000, pingMs: 15_000, behindMs: 10_000 };

/** Each holds a page of events and a socket. */
const STREAMS_MAX = 4_000;
/** Of one account: it must not take them all. */
const ACCOUNT_STREAMS_MAX = 500;
/** Snapshots come in batches: what comes so close together is one write to each socket. */
const GATHER_MS = 20;

interface Open {
  readonly account: Account;
  readonly key: string | null;
  readonly subscription: Subscription;
}

/** Live levels over SSE. A stream that ends can be taken up again where it ended, by any client with the id of its last event. */
export function createGexStreams({ events, market, access, observe, timing }: GexStreamParts): GexStreams {
  const { lookMs, pingMs, behindMs } = { ...TIMING, ...timing };
  const streams = new Set<Open>();
  let looking: ReturnType<typeof setInterval> | undefined;
  let pingedAt = 0;
  let closed = false;
  let gathering: ReturnType<typeof setTimeout> | undefined;

  const forget = (open: Open, reason: 'client' | 'behind' | 'access' | 'shutdown'): void => {
    if (!streams.delete(open)) return;
    if (streams.size === 0) clearInterval(looking);
    observe({ kind: 'stream_closed', account: open.account.id, reason, streams: streams.size });
  };

  const end = (open: Open, reason: 'behind' | 'access' | 'shutdown'): void => {
    open.subscription.end(reason === 'behind');
    forget(open, reason);
  };

  /** Cuts who takes nothing or may no longer, and pings the rest. */
  const look = (): void => {
    const nowMs = performance.now();
    const pings = nowMs - pingedAt >= pingMs;
    if (pings) pingedAt = nowMs;
    const refused = new Set<string>();
    for (const [id, key] of new Map([...streams].map(({ account, key }) => [account.id, key]))) {
      if (!hasAccess(access, key)) refused.add(id);
    }
    for (const open of streams) {
      const { account, subscription } = open;
      const { behindSince } = subscription;
      if (refused.has(account.id)) end(open, 'access');
      else if (behindSince !== undefined && nowMs - behindSince >= behindMs) end(open, 'behind');
      else if (pings) subscription.ping();
    }
  };

  const spread = (): void => {
    gathering = undefined;
    try {
      events.refresh();
    } catch (error) {
      observe({ kind: 'levels_failed', snapshot: null, error });
    }
    for (const { subscription } of streams) subscription.wake();
  };

  return {
    open(request) {
      const { account, headers } = request;
      const tickers = tickersOf(request, market);
      const after = placeOf(request);
      if (closed) throw unavailable();
      refuseTooMany(streams, account);
      const subscription = createSubscription({
        events,
        tickers,
        after,
        gone: () => forget(open, 'client'),
      });
      const open: Open = { account, key: headers.get('x-api-key'), subscription };
      if (streams.size === 0) {
        pingedAt = performance.now();
        looking = setInterval(look, lookMs);
      }
      streams.add(open);
      observe({ kind: 'stream_opened', account: account.id, streams: streams.size });
      return new Response(subscription.stream, {
        headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' },
      });
    },
    wake() {
      if (!closed) gathering ??= setTimeout(spread, GATHER_MS);
    },
    close() {
      closed = true;
      clearTimeout(gathering);
      for (const open of streams) end(open, 'shutdown');
    },
    get size() {
      return streams.size;
    },
  };
}

function refuseTooMany(streams: ReadonlySet<Open>, account: Account): void {
  let own = 0;
  for (const open of streams) if (open.account.id === account.id) own++;
  if (own >= ACCOUNT_STREAMS_MAX) {
    throw new Failure('too_many_streams', 'This account has too many streams open', {
      hint: 'Follow several tickers on one stream, or close idle streams.',
    });
  }
  if (streams.size >= STREAMS_MAX) throw unavailable();
}

function unavailable(): Failure {
  return new Failure('unavailable', 'No more streams can be opened now', {
    hint: 'Close idle streams, or retry later.',
  });
}

/** A defect, a store that is busy say, takes nobody's access away. */
function hasAccess(access: Pick<Access, 'authenticate'>, key: string | null): boolean {
  try {
    access.authenticate(key);
    return true;
  } catch (error) {
    return !(error instanceof Failure);
  }
}
