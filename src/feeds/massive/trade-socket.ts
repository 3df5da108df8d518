import { isRecord, jsonExcess } from '../../json-shape.ts';

export interface SocketOptions {
  readonly url: string;
  readonly key: string;
  /** The channels to subscribe to. `T.*` are the trades of all options. */
  readonly channels: string;
  /** Maximum time in which nothing is received, not even the answer to a ping, ms. */
  readonly silenceMs: number;
  /** Maximum time in which no trade is received while trades are expected, ms. */
  readonly quietMs: number;
  /** Returns whether trades are expected now. */
  readonly expectsTrades: () => boolean;
  readonly nowMs: () => number;
  /** Called when the subscription becomes active. From this moment on, trades are received. */
  readonly onOpen: () => void;
  /** Called with the messages of a frame, at least one. */
  readonly onMessages: (messages: readonly unknown[]) => void;
  /** Called for a frame that is not a list of messages. */
  readonly onMalformed: () => void;
}

/** How a connection ended. */
export interface ConnectionEnd {
  /** Why the connection ended, in Zomma's own words, because a server's message may contain the key. */
  readonly reason: string;
  /** Whether Massive rejects the key or the plan. An early second try would fail too. */
  readonly isRejected: boolean;
  /** When something was last received, ms since the epoch. */
  readonly lastReceivedAt: number;
}

/**
 * Runs one connection of Massive's socket, and resolves when the connection has ended. Sends `auth` when the socket opens, and `subscribe`
 * after the status `auth_success`. After the status `success`, the subscription is active. Never rejects. An aborted `signal` ends the
 * connection.
 */
export function runSocket(options: SocketOptions, signal: AbortSignal): Promise<ConnectionEnd> {
  const { promise, resolve } = Promise.withResolvers<ConnectionEnd>();
  const socket = new WebSocket(options.url);
  let lastReceivedAt = options.nowMs();
  let hasReceived = true;
  /** When a trade was last received, or when trades began to be expected if that is later, ms since the epoch. */
  let lastTradeAt = lastReceivedAt;
  let isSubscribed = false;
  let hasEnded = false;

  const end = (reason: string, isRejected = false) => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    resolve({ reason, isRejected, lastReceivedAt });
    // Close without a closing handshake, because the other side may no longer respond.
    socket.terminate();
  };
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  const handleStatus = (word: unknown) => {
    if (word === 'auth_success') send({ action: 'subscribe', params: options.channels });
    else if (word === 'success') {
      isSubscribed = true;
      lastTradeAt = options.nowMs();
      options.onOpen();
    } else if (word === 'max_connections') end('Massive allows no further connection of this account');
    else if (!isSubscribed && REJECTIONS.has(word)) end(REJECTIONS.get(word) ?? '', true);
  };
  const abort = () => end('stopped');
  // Silence ends the connection after two intervals: at the end of the first interval a ping is sent, and at the end of the second interval
  // there is still no answer.
  let intervals = 0;
  const watch = setInterval(() => {
    if (++intervals > CONNECT_INTERVALS_MAX && !isSubscribed)
      return end('the socket answers, but has not accepted the subscription');
    if (!options.expectsTrades()) lastTradeAt = options.nowMs();
    else if (isSubscribed && options.nowMs() - lastTradeAt > options.quietMs) {
      // The server answers pings, but the subscription no longer works. Trades are missing since the last trade.
      lastReceivedAt = lastTradeAt;
      return end(`no trade was received for ${options.quietMs / 1_000} s of trading hours`);
    }
    if (!hasReceived) return end(`nothing was received for ${options.silenceMs / 1_000} s`);
    hasReceived = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, options.silenceMs / 2);
  const onReceived = () => {
    lastReceivedAt = options.nowMs();
    hasReceived = true;
  };

  socket.addEventListener('open', () => send({ action: 'auth', params: options.key }));
  socket.addEventListener('pong', onReceived);
  socket.addEventListener('message', ({ data }) => {
    if (hasEnded) return;
    onReceived();
    const frame = String(data);
    if (frame.length > FRAME_CHARS_MAX) return end(`a frame of more than ${FRAME_CHARS_MAX} characters`);
    const messages = messagesOf(frame);
    if (messages === undefined) return options.onMalformed();
    for (const message of messages) if (isRecord(message) && message.ev === 'status') handleStatus(message.status);
    if (!isSubscribed) return;
    lastTradeAt = options.nowMs();
    options.onMessages(messages);
  });
  socket.addEventListener('error', () => end('the connection failed'));
  socket.addEventListener('close', ({ code }) => end(`the connection was closed (${code})`));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  return promise;
}

/** Maximum length of a frame: the length of some 25,000 trades. A frame of this length is parsed in some ten milliseconds. */
const FRAME_CHARS_MAX = 4 * 1024 * 1024;
/** Bounds of the JSON in a frame: some 10,000 trades. A trade is an object with a list of conditions, and has some ten values. */
const FRAME_JSON = { containers: 20_000, values: 1_000_000 };

/** Maximum number of intervals until the subscription is active: twice the silence that ends a connection. */
const CONNECT_INTERVALS_MAX = 4;

/** The statuses with which Massive rejects the key or the plan, with their reasons. A person has to correct the key or the plan. */
const REJECTIONS: ReadonlyMap<unknown, string> = new Map([
  ['auth_failed', 'the socket rejects the key'],
  ['not_authorized', 'the plan does not include option trades'],
  ['error', 'the socket rejects the subscription'],
]);

/** Returns the messages of a frame, or `undefined` if the frame is not JSON, or exceeds FRAME_JSON. */
function messagesOf(frame: string): readonly unknown[] | undefined {
  if (jsonExcess(frame, FRAME_JSON) !== undefined) return undefined;
  try {
    const messages: unknown = JSON.parse(frame);
    return Array.isArray(messages) ? messages : isRecord(messages) ? [messages] : undefined;
  } catch {
    return undefined;
  }
}
