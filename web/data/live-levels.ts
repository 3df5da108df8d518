import { effect, type Signal, signal } from '@preact/signals';
import { memberKey } from './member-key.ts';
import type { Levels } from './page-answers.ts';
import { parseData, RequestProblem, send } from './request.ts';
import { noteUnanswered } from './server-connection.ts';

/** The levels of a ticker in the format of the server's event stream. */
export interface LiveLevels
  extends Pick<Levels, 'ticker' | 'spot_price' | 'call_wall' | 'put_wall' | 'gex_flip' | 'net_gex_mil' | 'regime'>,
    Partial<Pick<Levels, 'flip_resolved' | 'sign_margin_pct'>> {
  /** The id of the event. */
  readonly id: string;
  readonly provenance: { readonly as_of: string; readonly simulated: boolean; readonly source: string };
}

/** True if the event stream is connected. Either this tab or another tab reads the stream. */
export const isStreaming = signal(false);
/** True in the tab that reads the event stream for all tabs. */
export const isLeading = signal(false);
/** Number of events that this tab has rendered. */
export const eventCount = signal(0);

const byTicker = new Map<string, Signal<LiveLevels | undefined>>();

/** Returns a signal with the newest levels of a ticker. The signal changes only when the levels of this ticker change. */
export function liveLevels(ticker: string): Signal<LiveLevels | undefined> {
  let levels = byTicker.get(ticker);
  if (!levels) {
    levels = signal(undefined);
    byTicker.set(ticker, levels);
  }
  return levels;
}

/** Events that wait for the next frame: the newest event of each ticker. */
let waiting = new Map<string, LiveLevels>();
let isScheduled = false;
/** The id of the last event, with which this tab resumes the stream. Empty if there is none. */
let lastId = '';

/**
 * Receives events and renders all of them in the next frame. A hidden page renders the events when it becomes visible. From another server,
 * events may come again, and late events after newer ones.
 */
function receive(events: readonly LiveLevels[]): void {
  for (const event of events) if (!isOlder(event, waiting.get(event.ticker))) waiting.set(event.ticker, event);
  if (isScheduled || waiting.size === 0) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    const drawn = waiting;
    waiting = new Map();
    for (const [ticker, event] of drawn) {
      const levels = liveLevels(ticker);
      if (!isOlder(event, levels.value)) levels.value = event;
    }
    eventCount.value += drawn.size;
  });
}

const isOlder = (event: LiveLevels, than: LiveLevels | undefined): boolean =>
  than !== undefined && event.provenance.as_of < than.provenance.as_of;

/** Timeout of the event stream, in ms. The server sends a comment every 15 s, so a stream without data for this time is broken. */
const SILENT_MS = 40_000;
const RETRY_MS = { first: 500, most: 30_000 };

type Message =
  | {
      readonly kind: 'events';
      readonly events: readonly LiveLevels[];
      readonly lastId: string;
      readonly isStreaming: boolean;
    }
  | { readonly kind: 'hello' | 'wanted' };

/**
 * Follows the live levels of tickers until `stop` is called. Only one tab reads the event stream and sends the events to the other tabs,
 * because a browser without HTTP/2 opens at most six connections to a server. Tabs share a stream only if the same member is signed in.
 */
export function followLiveLevels(tickers: readonly string[], account: string): { stop(): void } {
  const stopped = new AbortController();
  const name = `zomma-stream-${account}`;
  const channel = new BroadcastChannel(name);
  let heardAt = Date.now();
  let leading: AbortController | undefined;
  const post = (message: Message) => channel.postMessage(message);
  const postEvents = (events: readonly LiveLevels[]) =>
    post({ kind: 'events', events, lastId, isStreaming: isStreaming.value });
  const snapshot = () => [...byTicker.values()].flatMap(({ value }) => (value ? [value] : []));

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'events') {
      heardAt = Date.now();
      isStreaming.value = data.isStreaming;
      lastId = data.lastId;
      receive(data.events);
    } else if (leading && data.kind === 'hello') postEvents(snapshot());
    else if (leading && data.kind === 'wanted' && document.hidden) leading.abort();
  };

  const lead = async () => {
    leading = new AbortController();
    isLeading.value = true;
    try {
      await readStream(tickers, AbortSignal.any([stopped.signal, leading.signal]), (events) => {
        lastId = events.at(-1)?.id ?? lastId;
        receive(events);
        postEvents(events);
      });
    } finally {
      leading = undefined;
      isLeading.value = false;
    }
  };

  const compete = async () => {
    while (!stopped.signal.aborted) {
      // Web Locks need a secure context: loopback or TLS. Without Web Locks, each tab reads its own stream.
      if (!navigator.locks) {
        await lead();
        continue;
      }
      const waitingFor = new AbortController();
      const check = setInterval(() => {
        if (!leading && Date.now() - heardAt > SILENT_MS) waitingFor.abort();
        else if (!leading && !document.hidden) post({ kind: 'wanted' });
      }, 5_000);
      post({ kind: 'hello' });
      if (!document.hidden) post({ kind: 'wanted' });
      const isSilent = await navigator.locks
        .request(name, { signal: AbortSignal.any([stopped.signal, waitingFor.signal]) }, lead)
        .then(
          () => false,
          () => {
            // This tab stops reading the stream, because another tab has taken the lock.
            leading?.abort();
            return waitingFor.signal.aborted;
          },
        );
      clearInterval(check);
      // A tab loses the lock if it reads no data, for example because the browser has frozen the tab.
      if (isSilent && !stopped.signal.aborted) {
        await navigator.locks.request(name, { steal: true }, lead).catch(() => leading?.abort());
      }
    }
  };
  const onShown = () => {
    if (!document.hidden && !leading) post({ kind: 'wanted' });
  };
  document.addEventListener('visibilitychange', onShown);
  void compete();
  return {
    stop() {
      stopped.abort();
      channel.close();
      document.removeEventListener('visibilitychange', onShown);
    },
  };
}

/** Reads the event stream until `signal` is aborted. When the stream ends, the function connects again. */
async function readStream(
  tickers: readonly string[],
  signal: AbortSignal,
  onEvents: (events: readonly LiveLevels[]) => void,
): Promise<void> {
  let retryMs = RETRY_MS.first;
  while (!signal.aborted && memberKey.value !== null) {
    const silence = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MS);
    };
    try {
      heard();
      const response = await send(`/api/v1/stream/gex/${tickers.map(encodeURIComponent).join(',')}`, {
        headers: { ...(lastId && { 'Last-Event-ID': lastId }) },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      isStreaming.value = true;
      onEvents([]);
      retryMs = RETRY_MS.first;
      for await (const events of eventsOf(response.body!, heard)) onEvents(events);
    } catch (error) {
      // Status 400 means that the server does not know ids of this form. The next stream then starts with the current levels.
      if (error instanceof RequestProblem && error.status === 400) lastId = '';
      if (error instanceof RequestProblem && error.status === 0) noteUnanswered(Date.now() + retryMs);
    } finally {
      clearTimeout(timer);
    }
    if (signal.aborted) break;
    isStreaming.value = false;
    onEvents([]);
    await new Promise((resolve) => {
      setTimeout(resolve, retryMs);
      signal.addEventListener('abort', resolve, { once: true });
    });
    retryMs = Math.min(2 * Math.max(retryMs, 1_000), RETRY_MS.most);
  }
  isStreaming.value = false;
}

/** Yields lists of events. Each list has the events that arrive together. Calls `heard` for each chunk of data, including pings. */
async function* eventsOf(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<LiveLevels[]> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const blocks = (text + value).split('\n\n');
      text = blocks.pop()!;
      const events = blocks.flatMap((block) => parseEvent(block));
      if (events.length > 0) yield events;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Returns the levels of one event of a stream. Returns an empty list for comments and other events. */
export function parseEvent(block: string): LiveLevels[] {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
  const data = fields.get('data');
  if (fields.get('event') !== 'gex' || data === undefined) return [];
  return [{ ...(parseData(data) as Omit<LiveLevels, 'id'>), id: fields.get('id')! }];
}

// The live figures are removed when the member signs out.
effect(() => {
  if (memberKey.value !== null) return;
  lastId = '';
  waiting = new Map();
  for (const levels of byTicker.values()) levels.value = undefined;
});
