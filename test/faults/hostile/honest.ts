import { quantile } from '../../../src/bench/race.ts';
import { CLIENTS } from '../../mcp/connect.ts';
import type { Target } from '../../support/mcp-wire.ts';

export interface HonestFigures {
  readonly name: string;
  readonly calls: number;
  /** Errors. There must be none. */
  readonly failures: readonly string[];
  /** Times in ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The official clients over each transport, and plain requests. */
export const HONEST = ['v1 over HTTP+SSE', 'v1 over Streamable HTTP', 'v2 as in 2026', 'REST'] as const;

export interface Honest {
  readonly name: string;
  /** Calls the next of its tools. Rejects if the call fails, or if the answer differs from the one before. */
  call(): Promise<void>;
  close(): Promise<void>;
}

/** The part of an answer that must be the same on every call: the figures, or, for the newest levels, which move, the type of each. */
const CALLS: readonly (readonly [tool: string, args: object, same: (answer: object) => unknown])[] = [
  ['calculate_kelly_sizing', { win_prob: 0.6 }, (answer) => answer],
  ['get_live_gex_nodes', { ticker: 'SPY' }, (answer) => Object.entries(answer).map(([name, at]) => [name, typeof at])],
  [
    'compute_options_greeks',
    { put_call: 'P', spot: 100, strike: 95, tte: 0.1, iv: 0.3, rate: 0.04 },
    (answer) => answer,
  ],
];

export async function connect(name: (typeof HONEST)[number], { url, key }: Target): Promise<Honest> {
  const headers = { 'X-API-Key': key };
  const client = name === 'REST' ? undefined : await CLIENTS[name](url, headers);
  const known = new Map<string, string>();
  let calls = 0;
  const ask = async (tool: string, args: object): Promise<object> => {
    if (client) {
      const { isError, content, structuredContent } = await client.callTool({ name: tool, arguments: { ...args } });
      if (isError || !structuredContent) throw new Error(JSON.stringify(content));
      return structuredContent;
    }
    const response = await fetch(`${url}/api/v1/tools/${tool}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(args),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as object;
  };
  return {
    name,
    async call() {
      const [tool, args, same] = CALLS[calls++ % CALLS.length]!;
      const answer = JSON.stringify(same(await ask(tool, args)));
      if ((known.get(tool) ?? answer) !== answer) throw new Error(`${tool}: ${answer}`);
      known.set(tool, answer);
    },
    close: async () => client?.close(),
  };
}

export async function callOn({ name, call }: Honest, isOver: () => boolean): Promise<HonestFigures> {
  const times: number[] = [];
  const failures: string[] = [];
  while (!isOver()) {
    const askedAt = performance.now();
    await call().catch((error: unknown) => failures.push(String(error)));
    times.push(performance.now() - askedAt);
    await Bun.sleep(PAUSE_MS);
  }
  const at = (share: number) => quantile(times, share);
  return { name, calls: times.length, failures, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** The pause between two calls, within the rate limit of an account. */
const PAUSE_MS = 100;
