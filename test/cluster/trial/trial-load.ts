import { eventsOf } from '../../support/event-stream.ts';
import { ACCEPT, INITIALIZE, INITIALIZED } from '../../support/mcp-wire.ts';
import { TICKERS } from './trial-feed.ts';
import { TRUSTED } from './trial-servers.ts';

/** An answer with levels: what it is of, which server gave it, and when it was asked for, ms of `performance.now()`. */
export interface Answer {
  readonly server: string;
  readonly ticker: string;
  readonly asOf: number;
  readonly spot: number;
  readonly askedMs: number;
  readonly endedMs: number;
}

export interface LiveEvent {
  readonly id: string;
  readonly ticker: string;
  readonly asOf: number;
  readonly spot: number;
  readonly atMs: number;
}

/** A stream of live levels that opens again whenever it ends. */
export interface Stream {
  readonly events: readonly LiveEvent[];
  /** When the stream ended and was back, ms of `performance.now()`. */
  readonly breaks: readonly { readonly endedMs: number; backMs: number | undefined }[];
}

export interface Load {
  readonly answers: readonly Answer[];
  readonly streams: readonly Stream[];
  /** The numbers of requests by kind, and what failed. */
  readonly counts: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  /** Posts of MCP that failed once: a post that was in progress is not sent again. */
  readonly retried: () => number;
  stop(): Promise<void>;
}

const READS = [
  ...TICKERS.map((ticker) => `/api/v1/nodes/gex/${ticker}`),
  ...['/api/v1/levels', '/api/v1/universe', '/api/v1/feeds', '/api/v1/nodes/gex/SPY/strikes', '/api/v1/flow/QQQ'],
];
const GREEKS = { spot: 100, strike: 105, tte: 0.1, iv: 0.3, put_call: 'C' };
/** Pause between two requests of a reader, and before a stream opens again, ms. */
const PAUSE_MS = 40;

/** Reads through the proxy until `stop`: each key has a reader and a stream. */
export function startLoad(front: string, keys: readonly string[]): Load {
  const answers: Answer[] = [];
  const failures: string[] = [];
  const counts: Record<string, number> = {};
  const abort = new AbortController();
  let retried = 0;
  const isOver = () => abort.signal.aborted;
  const ask = async (
    kind: string,
    path: string,
    key: string,
    init: RequestInit = {},
  ): Promise<Response | undefined> => {
    const headers = { 'X-API-Key': key, ...(init.headers as Record<string, string>) };
    counts[kind] = (counts[kind] ?? 0) + 1;
    const startedMs = performance.now();
    try {
      const response = await fetch(front + path, { ...TRUSTED, ...init, headers });
      if (response.ok) return response;
      const reason = (await response.text()).slice(0, 300);
      return fail(`${response.status} of ${response.headers.get('x-trial-server')}: ${reason}`);
    } catch (error) {
      return fail((error as Error).message);
    }
    function fail(reason: string): undefined {
      if (isOver()) return;
      const took = Math.round(performance.now() - startedMs);
      if (kind === 'mcp') retried++;
      else failures.push(`${kind} ${path} after ${took} ms, at ${new Date().toISOString()}: ${reason}`);
    }
  };
  const read = async (key: string, from: number): Promise<void> => {
    for (let i = from; !isOver(); i++) {
      const path = READS[i % READS.length]!;
      const askedMs = performance.now();
      const response = await ask('get', path, key);
      const body = (await response?.json().catch((error: Error) => void failures.push(`${path}: ${error.message}`))) as
        | Levels
        | undefined;
      if (body?.spot_price !== undefined) {
        const { ticker, spot_price: spot } = body;
        const [server, asOf] = ['x-trial-server', 'x-data-as-of'].map((name) => response!.headers.get(name)!);
        answers.push({ server: server!, ticker, asOf: Date.parse(asOf!), spot, askedMs, endedMs: performance.now() });
      }
      const headers = { 'Content-Type': 'application/json' };
      if (i % 3 === 0)
        await (
          await ask('post', '/api/v1/physics/greeks', key, { method: 'POST', headers, body: JSON.stringify(GREEKS) })
        )?.text();
      await Bun.sleep(PAUSE_MS);
    }
  };
  /** Calls tools in a session. A session that the server no longer has is opened anew, as clients do. */
  const callTools = async (key: string): Promise<void> => {
    const post = (body: unknown, headers: Record<string, string>) =>
      ask('mcp', '/mcp', key, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...ACCEPT, ...headers },
        body: JSON.stringify(body),
      });
    let session: Record<string, string> | undefined;
    for (let failed = 0; !isOver(); ) {
      if (!session) {
        const opened = await post(INITIALIZE, {});
        await opened?.text();
        const id = opened?.headers.get('mcp-session-id');
        if (id) session = { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': '2025-11-25' };
        if (session) await (await post(INITIALIZED, session))?.text();
      }
      const params = { name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } };
      const answer = session && (await post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session));
      const text = await answer?.text();
      if (text?.includes('"result"')) failed = 0;
      else {
        session = undefined;
        if (++failed > MCP_TRIES && !isOver()) failures.push(`mcp failed ${failed} times: ${text}`);
      }
      await Bun.sleep(4 * PAUSE_MS);
    }
  };
  const streams = keys.map((): Stream & { events: LiveEvent[]; breaks: Stream['breaks'][number][] } => ({
    events: [],
    breaks: [],
  }));
  const follow = async (key: string, { events, breaks }: (typeof streams)[number]): Promise<void> => {
    while (!isOver()) {
      const resume: Record<string, string> = events.length > 0 ? { 'Last-Event-ID': events.at(-1)!.id } : {};
      try {
        const headers = { 'X-API-Key': key, ...resume };
        const path = `/api/v1/stream/gex/${TICKERS.join()}`;
        const response = await fetch(front + path, { ...TRUSTED, headers, signal: abort.signal });
        if (response.status !== 200) throw new Error(`stream: ${response.status}`);
        const last = breaks.at(-1);
        if (last) last.backMs ??= performance.now();
        const reader = eventsOf(response.body!);
        for (let event = await reader.next(); event; event = await reader.next()) {
          if (event.event !== 'gex') continue;
          const { ticker, provenance, spot_price: spot } = JSON.parse(event.data);
          events.push({
            id: event.id!,
            ticker,
            asOf: Date.parse(provenance.as_of),
            spot,
            atMs: performance.now(),
          });
        }
      } catch {
        // The stream has ended, or could not be opened.
      }
      if (breaks.length === 0 || breaks.at(-1)!.backMs !== undefined)
        breaks.push({ endedMs: performance.now(), backMs: undefined });
      await Bun.sleep(PAUSE_MS);
    }
    // The end of the trial is no break.
    breaks.pop();
  };
  const running = keys.flatMap((key, i) => [
    read(key, i),
    follow(key, streams[i]!),
    ...(i < 2 ? [callTools(key)] : []),
  ]);
  return {
    ...{ answers, streams, counts, failures },
    retried: () => retried,
    async stop() {
      abort.abort();
      await Promise.all(running);
    },
  };
}

/** A kill ends a session, and a call in progress fails. Then another server has to be found. */
const MCP_TRIES = 20;

interface Levels {
  readonly ticker: string;
  readonly spot_price?: number;
}
