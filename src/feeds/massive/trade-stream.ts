import { lastQuoted } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Clock } from '../clock.ts';
import { backoffMs } from '../http/retry.ts';
import { Mailbox } from './mailbox.ts';
import { runSocket } from './trade-socket.ts';
import { printsOf } from './trades.ts';

export interface StreamOptions {
  readonly url: string;
  readonly key: string;
  readonly tickers: readonly string[];
  readonly clock: Clock;
  readonly silenceMs?: number | undefined;
}

/**
 * Trades of the tickers' options as they happen, connecting anew for as long as it takes. A reconnect may bring trades again that came
 * before: they have the same id.
 */
export async function* tradeStream(options: StreamOptions, signal: AbortSignal): AsyncGenerator<Delivery> {
  // Whoever stops reading stops the connection too.
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const mailbox = new Mailbox(options.clock.now);
  const connecting = stayConnected(options, mailbox, both);
  try {
    yield* mailbox.take(both);
  } finally {
    stop.abort();
    await connecting;
  }
}

async function stayConnected(options: StreamOptions, mailbox: Mailbox, signal: AbortSignal): Promise<void> {
  const { clock, url, key, silenceMs = SILENCE_MS } = options;
  const tickers = new Set(options.tickers);
  let failures = 0;
  let toldDown = false;
  while (!signal.aborted) {
    let upAt: number | undefined;
    const ending = await runSocket(
      {
        url,
        key,
        channels: ALL_TRADES,
        silenceMs,
        quietMs: QUIET_MS,
        expectsTrades: () => lastQuoted(clock.now()) === clock.now(),
        nowMs: clock.now,
        up() {
          if (upAt !== undefined) return;
          upAt = clock.now();
          toldDown = false;
          mailbox.connection(true, upAt);
        },
        heard(messages) {
          const refused: Record<string, number> = {};
          const prints = printsOf(messages, tickers, clock.now(), refused);
          if (prints.length > 0 || Object.keys(refused).length > 0) mailbox.prints(prints, refused);
        },
        garbled: () => mailbox.prints([], { bad_frame: 1 }),
      },
      signal,
    );
    if (signal.aborted) return;
    // What was missed is counted from when something came last, not from when that was noticed.
    if (!toldDown) mailbox.connection(false, ending.lastHeardAt, ending.reason);
    toldDown = true;
    if (ending.rejected) mailbox.refusal('massive:stream', ending.reason);
    const stoodFast = upAt !== undefined && clock.now() - upAt > STEADY_MS;
    failures = stoodFast ? 1 : failures + 1;
    await clock.pause(ending.rejected ? REJECTED_PAUSE_MS : backoffMs(failures, clock.random), signal);
  }
}

/** The tracked tickers are picked from all trades: contracts are too many, and change too often, to be named one by one. */
const ALL_TRADES = 'T.*';
/** In the quietest hour pings are still answered. */
const SILENCE_MS = 30_000;
/** Of all options, thousands trade in each second of a session. */
const QUIET_MS = 120_000;
/** A connection that stood so long was no failure: one that is cut at once each time is tried ever more rarely. */
const STEADY_MS = 60_000;
/** A key or plan is put right by a person. */
const REJECTED_PAUSE_MS = 15 * 60_000;
