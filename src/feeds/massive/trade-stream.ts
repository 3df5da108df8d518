import { isRecord, type JsonRecord } from '../../core/json-shape.ts';
import { DAY_MS, lastQuoted } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import { parseOptionSymbol } from '../../market/option-symbol.ts';
import type { Print } from '../../market/prints.ts';
import type { Clock } from '../clock.ts';
import { backoffMs } from '../http/retry.ts';
import { AFTER_EXPIRY_MS_MAX, CONDITIONS, PRICE_MAX, SIZE_MAX } from '../print-execution.ts';
import { countRejected } from '../rejections.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { runSocket } from './trade-socket.ts';

export interface StreamOptions {
  readonly url: string;
  readonly key: string;
  readonly tickers: readonly string[];
  readonly clock: Clock;
  readonly silenceMs?: number | undefined;
}

/** Yields the live trades of the tickers' options, and reconnects. A trade may then arrive again with the same id. */
export async function* tradeStream(options: StreamOptions, signal: AbortSignal): AsyncGenerator<Delivery> {
  // If the consumer of this generator stops, the connection is closed too.
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const queue = new DeliveryQueue(options.clock.now);
  const connection = stayConnected(options, queue, both);
  try {
    yield* queue.take(both);
  } finally {
    stop.abort();
    await connection;
  }
}

/** Connects repeatedly until `signal` is aborted. Adds the prints and the changes of the connection to the queue. */
async function stayConnected(options: StreamOptions, queue: DeliveryQueue, signal: AbortSignal): Promise<void> {
  const { clock, url, key, silenceMs = SILENCE_MS } = options;
  const tickers = new Set(options.tickers);
  let failures = 0;
  let isDownReported = false;
  while (!signal.aborted) {
    let upSince: number | undefined;
    const end = await runSocket(
      {
        url,
        key,
        channels: ALL_TRADES,
        silenceMs,
        quietMs: QUIET_MS,
        expectsTrades: () => lastQuoted(clock.now()) === clock.now(),
        clock,
        onOpen() {
          if (upSince !== undefined) return;
          upSince = clock.elapsed();
          isDownReported = false;
          queue.connection(true, clock.now());
        },
        onMessages(messages) {
          const refused: Record<string, number> = {};
          const prints = printsOfTrades(messages, tickers, clock.now(), refused);
          if (prints.length > 0 || Object.keys(refused).length > 0) queue.prints(prints, refused);
        },
        onMalformed: () => queue.prints([], { bad_frame: 1 }),
      },
      signal,
    );
    if (signal.aborted) return;
    // The code reports the time from which trades may be missing. Usually the failure is noticed later.
    if (!isDownReported) queue.connection(false, end.lastReceivedAt, end.reason);
    isDownReported = true;
    if (end.isRejected) queue.rejection('massive:stream', end.reason);
    const wasLongLived = upSince !== undefined && clock.elapsed() - upSince > LONG_LIVED_MS;
    failures = wasLongLived ? 1 : failures + 1;
    await clock.pause(end.isRejected ? REJECTED_PAUSE_MS : backoffMs(failures, clock.random), signal);
  }
}

/** All option trades. The feed keeps those of its tickers, whose contracts are too many, and change too often, for subscriptions. */
const ALL_TRADES = 'T.*';
/** A connection ends after this time without data, ms. The answer to a ping counts, so a working connection never ends. */
const SILENCE_MS = 30_000;
/** In trading hours, a connection ends after this time without a frame of messages, ms. A session has thousands of trades a second. */
const QUIET_MS = 120_000;
/**
 * The minimum duration of a long connection, ms. Its end sets the count of failures to 1, and that of a shorter one adds 1, so that pauses
 * grow.
 */
const LONG_LIVED_MS = 60_000;
/** Pause after Massive has rejected the key or the plan, ms. A person has to correct the key or the plan. */
const REJECTED_PAUSE_MS = 15 * 60_000;

/** Returns the prints of `tickers` in the messages of a frame. Counts rejected trades in `refused`, and ignores all else. */
function printsOfTrades(
  messages: readonly unknown[],
  tickers: ReadonlySet<string>,
  nowMs: number,
  refused: Record<string, number>,
): Print[] {
  const prints: Print[] = [];
  for (const message of messages) {
    if (!isRecord(message) || message.ev !== 'T') continue;
    const symbol = typeof message.sym === 'string' ? parseOptionSymbol(message.sym) : undefined;
    if (symbol === undefined) countRejected(refused, 'bad_symbol');
    else if (tickers.has(symbol.underlying)) {
      const trade = tradeOf(message, Date.parse(symbol.expiry), nowMs);
      if (typeof trade === 'string') countRejected(refused, trade);
      else {
        const { root, underlying, expiry, callPut, strike } = symbol;
        prints.push({ underlying, root, expiry, callPut, strike, ...trade });
      }
    }
  }
  return prints;
}

/** Returns the values of a trade, without its contract, or the reason why it is rejected. */
function tradeOf(message: JsonRecord, expiryMs: number, nowMs: number) {
  const { sym, x, p: price, s: size, c, q } = message;
  const at = instantMs(message.t);
  if (!(at > nowMs - AGE_MS_MAX && at < nowMs + DAY_MS)) return 'bad_time';
  if (at - expiryMs > AFTER_EXPIRY_MS_MAX) return 'expired';
  if (typeof price !== 'number' || !(price > 0 && price <= PRICE_MAX)) return 'bad_price';
  if (typeof size !== 'number' || !(Number.isInteger(size) && size > 0 && size <= SIZE_MAX)) return 'bad_size';
  const execution = { multiLeg: false, sweep: false, block: false, canceled: false };
  for (const code of Array.isArray(c) ? c : []) {
    Object.assign(execution, CONDITIONS.get(OPRA_CONDITIONS.get(code) ?? ''));
  }
  return {
    // Ids begin with the time, so the store adds them at the end of its index. A repeated trade has the same id.
    id: `${at.toString(36)}-${Bun.hash.xxHash64(`${sym} ${q} ${x} ${price} ${size}`).toString(36)}`,
    at,
    price,
    size,
    multiplier: 100,
    side: null,
    bid: null,
    ask: null,
    delta: null,
    ...execution,
    simulated: false,
  } as const;
}

/** Maximum age of a trade, ms. The socket sends today's trades. A trade may be a day ahead, because the clock may be wrong. */
const AGE_MS_MAX = 7 * DAY_MS;

/**
 * OPRA's four-letter code by the number of a sale condition in Massive's glossary (`/v3/reference/conditions?asset_class=options`). Other
 * numbers have no effect.
 */
const OPRA_CONDITIONS: ReadonlyMap<unknown, string> = new Map([
  ...numbered(201, 'canc oseq cncl late cnco open cnol opnl auto reop'),
  ...numbered(219, 'isoi'),
  ...numbered(227, 'slan slai slcn slci slft mlet mlat mlct mlft mesl tlat masl mfsl tlet tlct tlft tesl tasl tfsl'),
  ...numbered(246, 'cbmo mctp exht'),
]);

/** Gives successive numbers to conditions, starting with `from`. */
function numbered(from: number, conditions: string): [number, string][] {
  return conditions.split(' ').map((condition, i) => [from + i, condition]);
}

/** Converts a time since the epoch in s, ms, µs or ns (by its magnitude, until the year 5000) to ms. Returns NaN for others. */
export function instantMs(value: unknown): number {
  if (typeof value !== 'number' || !(value > 0)) return Number.NaN;
  // As a double, the present time in nanoseconds has an error of some hundred nanoseconds.
  return Math.round(value < 1e11 ? value * 1e3 : value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6);
}
