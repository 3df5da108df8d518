import { isRecord, jsonExcess } from '../../core/json-shape.ts';
import type { Clock } from '../clock.ts';

export interface SocketOptions {
  readonly url: string;
  readonly key: string;
  /** The channels to subscribe to. `T.*` are the trades of all options. */
  readonly channels: string;
  /** The connection ends after this time without data and without an answer to a ping, ms. */
  readonly silenceMs: number;
  /** While trades are expected, the connection ends after this time without messages, ms. */
  readonly quietMs: number;
  /** Returns whether trades are expected now. */
  readonly expectsTrades: () => boolean;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  /** Called for each status `success`, which confirms the subscription. The server sends trades after the first status `success`. */
  readonly onOpen: () => void;
  /** Called with the messages of each frame from the activation of the subscription on, which may be none or other than trades. */
  readonly onMessages: (messages: readonly unknown[]) => void;
  /** Called for a frame that exceeds FRAME_JSON, or that is neither a JSON object nor a JSON array. */
  readonly onMalformed: () => void;
}

/** The end of a connection. */
export interface ConnectionEnd {
  /** The reason why the connection ended. The text is Zomma's own, because a server's message may contain the key. */
  readonly reason: string;
  /** True if Massive rejects the key or the plan. Another try soon after a rejection would fail as well. */
  readonly isRejected: boolean;
  /**
   * The time after which trades may be missing, ms since the epoch: of the last data, or else of the start. If messages were missing, it is
   * that of the last frame of messages.
   */
  readonly lastReceivedAt: number;
}

/**
 * Runs one connection of Massive's socket until it ends or `signal` is aborted. Sends `auth`, then `subscribe` after the status
 * `auth_success`; the subscription is active after `success`. Never rejects.
 */
export function runSocket(options: SocketOptions, signal: AbortSignal): Promise<ConnectionEnd> {
  const { promise, resolve } = Promise.withResolvers<ConnectionEnd>();
  // Without compression, because the runtime inflates 100 KB of a hostile frame to more than 100 MB before any limit on its length.
  const socket = new WebSocket(options.url, { perMessageDeflate: false });
  const { now, elapsed } = options.clock;
  // Both times are by the clock that never steps. Times of the other clock could be in the future after a step.
  let lastReceived = elapsed();
  let hasReceived = true;
  /** The latest of the last frame of messages, the start of the subscription, and the start of trading hours, ms. */
  let lastMessages = lastReceived;
  let isSubscribed = false;
  let hasEnded = false;

  const end = (reason: string, isRejected = false) => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    resolve({ reason, isRejected, lastReceivedAt: now() - (elapsed() - lastReceived) });
    // The socket closes without a closing handshake, because the other side may no longer respond.
    socket.terminate();
  };
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  const handleStatus = (word: unknown) => {
    if (word === 'auth_success') send({ action: 'subscribe', params: options.channels });
    else if (word === 'success') {
      isSubscribed = true;
      lastMessages = elapsed();
      options.onOpen();
    } else if (word === 'max_connections') end('Massive allows no further connection of this account');
    else if (!isSubscribed && REJECTIONS.has(word)) end(REJECTIONS.get(word) ?? '', true);
  };
  const abort = () => end('stopped');
  // Each interval ends with a ping. Without data or an answer in the next one, the connection ends, so after one to two intervals.
  let intervals = 0;
  const watch = setInterval(() => {
    if (++intervals > CONNECT_INTERVALS_MAX && !isSubscribed)
      return end('the socket answers, but has not accepted the subscription');
    if (!options.expectsTrades()) lastMessages = elapsed();
    else if (isSubscribed && elapsed() - lastMessages > options.quietMs) {
      // The server answers pings, but the subscription is dead. Trades after the last frame of messages may be missing.
      lastReceived = lastMessages;
      return end(`no message was received for ${options.quietMs / 1_000} s of trading hours`);
    }
    if (!hasReceived) return end(`nothing was received for at least ${options.silenceMs / 2_000} s`);
    hasReceived = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, options.silenceMs / 2);
  const onReceived = () => {
    lastReceived = elapsed();
    hasReceived = true;
  };

  socket.addEventListener('open', () => send({ action: 'auth', params: options.key }));
  socket.addEventListener('pong', onReceived);
  socket.addEventListener('message', ({ data }) => {
    if (hasEnded) return;
    onReceived();
    const frame = String(data);
    if (frame.length > FRAME_CHARS_MAX) return end(`a frame has more than ${FRAME_CHARS_MAX} characters`);
    const messages = messagesOf(frame);
    if (messages === undefined) return options.onMalformed();
    for (const message of messages) if (isRecord(message) && message.ev === 'status') handleStatus(message.status);
    if (!isSubscribed) return;
    lastMessages = elapsed();
    options.onMessages(messages);
  });
  socket.addEventListener('error', () => end('the connection failed'));
  socket.addEventListener('close', ({ code }) => end(`the connection was closed (${code})`));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  return promise;
}

/** Maximum length of a frame, characters: the length of some 25,000 trades. A frame of this length is parsed in some ten milliseconds. */
const FRAME_CHARS_MAX = 4 * 1024 * 1024;
/** Bounds of the JSON in a frame: some 10,000 trades, each with two containers (an object and its conditions) and some ten values. */
const FRAME_JSON = { containers: 20_000, values: 1_000_000 };

/** Whole intervals of half of `silenceMs` without an active subscription. The connection ends after `2.5 * silenceMs`. */
const CONNECT_INTERVALS_MAX = 4;

/** The statuses with which Massive rejects a key or a plan, each with a reason in words. A person has to correct the key or the plan. */
const REJECTIONS: ReadonlyMap<unknown, string> = new Map([
  ['auth_failed', 'the socket rejects the key'],
  ['not_authorized', 'the plan does not include option trades'],
  ['error', 'the socket rejects the subscription'],
]);

/** Returns the messages of a frame, or `undefined` if the frame is not JSON or exceeds FRAME_JSON. */
function messagesOf(frame: string): readonly unknown[] | undefined {
  if (jsonExcess(frame, FRAME_JSON) !== undefined) return undefined;
  try {
    const messages: unknown = JSON.parse(frame);
    return Array.isArray(messages) ? messages : isRecord(messages) ? [messages] : undefined;
  } catch {
    return undefined;
  }
}
