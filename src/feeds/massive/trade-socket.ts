import { isRecord, jsonExcess } from '../../json-shape.ts';

export interface SocketOptions {
  readonly url: string;
  readonly key: string;
  /** Channels, such as `T.*`: trades of all options. */
  readonly channels: string;
  /** How long nothing may be received, not even the answer to a ping, ms. */
  readonly silenceMs: number;
  /** How long no trade may be received while trades are expected, ms. */
  readonly quietMs: number;
  /** Whether trades are expected now. */
  readonly expectsTrades: () => boolean;
  readonly nowMs: () => number;
  /** Called when the subscription is active: trades are received from now on. */
  readonly onOpen: () => void;
  /** Called with the messages of a frame, at least one. */
  readonly onMessages: (messages: readonly unknown[]) => void;
  /** Called for a frame that is not a list of messages. */
  readonly onMalformed: () => void;
}

/** How a connection ended. */
export interface ConnectionEnd {
  /** In Zomma's own words, because a server's message may contain the key. */
  readonly reason: string;
  /** The service rejects the account. Another try soon would fail too. */
  readonly rejected: boolean;
  /** When something was last received, ms since the epoch. */
  readonly lastReceivedAt: number;
}

/**
 * Runs one connection of Massive's socket from start to end. It sends `auth`, sends `subscribe` on `auth_success`, and is up on `success`.
 * Never throws. An aborted `signal` ends the connection.
 */
export function runSocket(options: SocketOptions, signal: AbortSignal): Promise<ConnectionEnd> {
  const { promise, resolve } = Promise.withResolvers<ConnectionEnd>();
  const socket = new WebSocket(options.url);
  let lastReceivedAt = options.nowMs();
  let receivedInInterval = true;
  /** When a trade was last received, or the first moment at which trades are expected, ms since the epoch. */
  let lastTradeAt = lastReceivedAt;
  let isSubscribed = false;
  let hasEnded = false;

  const end = (reason: string, rejected = false) => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    resolve({ reason, rejected, lastReceivedAt });
    // Does not wait for the other side to agree, because it may no longer respond.
    socket.terminate();
  };
  const send = (message: unknown) => socket.send(JSON.stringify(message));
  const handleStatus = (word: unknown) => {
    if (word === 'auth_success') send({ action: 'subscribe', params: options.channels });
    else if (word === 'success') {
      isSubscribed = true;
      lastTradeAt = options.nowMs();
      options.onOpen();
    } else if (word === 'max_connections') end('the account has another connection open');
    else if (!isSubscribed && REJECTIONS.has(word)) end(REJECTIONS.get(word) ?? '', true);
  };
  const abort = () => end('stopped');
  // Silence ends the connection within two intervals: the first one sends a ping, and after the second one there is still no answer.
  let intervals = 0;
  const watch = setInterval(() => {
    if (++intervals > CONNECT_INTERVALS_MAX && !isSubscribed)
      return end('the socket answers, but has not accepted the subscription');
    if (!options.expectsTrades()) lastTradeAt = options.nowMs();
    else if (isSubscribed && options.nowMs() - lastTradeAt > options.quietMs) {
      // The server answers pings, but the subscription is dead.
      lastReceivedAt = lastTradeAt;
      return end(`no trade was received for ${options.quietMs / 1_000} s of trading hours`);
    }
    if (!receivedInInterval) return end(`nothing was received for ${options.silenceMs / 1_000} s`);
    receivedInInterval = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  }, options.silenceMs / 2);
  const onReceived = () => {
    lastReceivedAt = options.nowMs();
    receivedInInterval = true;
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

/** Some 25,000 trades, which is more than all exchanges report in a second. They are parsed in some ten milliseconds. */
const FRAME_CHARS_MAX = 4 * 1024 * 1024;
/** A trade is an object with a list of conditions, and has some ten values. */
const FRAME_JSON = { containers: 20_000, values: 1_000_000 };

/** In intervals of half of `silenceMs`: twice the silence that ends a connection. */
const CONNECT_INTERVALS_MAX = 4;

/** Statuses by which the service rejects the account. A person has to correct the key or the plan. */
const REJECTIONS: ReadonlyMap<unknown, string> = new Map([
  ['auth_failed', 'the socket rejects the key'],
  ['not_authorized', 'the plan does not include option trades'],
  ['error', 'the socket rejects the subscription'],
]);

function messagesOf(frame: string): readonly unknown[] | undefined {
  if (jsonExcess(frame, FRAME_JSON) !== undefined) return undefined;
  try {
    const messages: unknown = JSON.parse(frame);
    return Array.isArray(messages) ? messages : isRecord(messages) ? [messages] : undefined;
  } catch {
    return undefined;
  }
}
