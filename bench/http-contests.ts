import { join } from 'node:path';
import { distinctOptions } from '../src/bench/workloads.ts';
import { greeks } from '../src/math/black-scholes.ts';
import { sixDigits } from '../src/mcp/six-digits.ts';
import { beginStreamable, type Target } from '../test/support/mcp-wire.ts';
import { type Server, startServer, withFolder } from '../test/support/process.ts';
import { requestText, Wire, type WireAnswer } from '../test/support/wire.ts';
import {
  ask,
  cachedAnswer,
  checkColumn,
  checkText,
  fieldsOf,
  processRunner,
  type Runner,
  requestRunner,
} from './http-runners.ts';
import { answerBatch, BATCH_GREEKS, BATCH_PATH, BINARY_TYPE, batchOf } from './http-servers/batch.ts';
import { answerGreeks, GREEKS, GREEKS_PATH } from './http-servers/greeks.ts';
import type { CachedAnswer, RawWork } from './http-servers/raw.ts';
import { packed } from './native.ts';
import { isInstalled, missingPeers, PEER_ENV, PYTHON, pythonFile } from './peer-process.ts';
import type { NextRequest } from './socket-load.ts';

/** A comparison of runners that get the same request: servers, or the same work in this process without a server. */
export interface Contest {
  readonly title: string;
  readonly connections: number;
  /** The threads whose CPU time counts: by default the main thread, on which a server answers. */
  readonly threads?: 'main' | 'all';
  /** The runners. Zomma is the first, if it offers the request. */
  readonly runners: readonly Runner[];
  /** The runners that are not measured, with the reasons. */
  readonly missing: readonly string[];
  readonly targets: readonly HttpTarget[];
}

/** A bound on the ratio of a figure of Zomma and that of another runner of the contest. */
export interface HttpTarget {
  readonly text: string;
  /** Name of the other runner. */
  readonly against: string;
  /**
   * rate: Zomma's rate divided by the other runner's rate must be at least `bound`. cpu: the other runner's CPU time divided by Zomma's
   * must be at least `bound`. time: Zomma's CPU time divided by the other runner's must be at most `bound`.
   */
  readonly by: 'rate' | 'cpu' | 'time';
  readonly bound: number;
}

/** The beginning of the name of Zomma's row. */
export const ZOMMA = 'Zomma';
export const RAW_WORK = 'raw `Bun.serve`, the same work';
export const RAW_CONSTANT = 'raw `Bun.serve`, a constant answer';
export const ELYSIA = 'Elysia, typed';
export const HONO = 'Hono';
export const FASTIFY = 'Fastify on Node, with schemas';
export const REST_TOOL = 'REST, POST /api/v1/tools/calculate_kelly_sizing';
export const FASTAPI = 'FastAPI, numpy and orjson';
export const BATCH_WORK = 'parse, kernel and stringify alone, no server';
export const KERNEL = 'the kernel alone, no server';

const OPTION = { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04 } as const;
const GEX_PATH = '/api/v1/nodes/gex/SPY';
const UNIVERSE_PATH = '/api/v1/universe';
const KELLY = { name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } };
/** With this limit, the limiter does the same work as with its default of 600/min, but never rejects a request. */
export const RATE_LIMIT = '1000000/s';

export interface ContestOptions {
  readonly connections: number;
  /** Number of options in a batch. */
  readonly rows: number;
}

/**
 * Starts Zomma with `command` and a simulated market in a temporary folder, and starts the other servers that are installed. Each server is
 * a process of its own. Runs `work`, and then stops all servers. Rejects with an error if a server's answer differs from the expected one.
 */
export function withContests<Result>(
  command: readonly string[],
  options: ContestOptions,
  work: (contests: readonly Contest[]) => Promise<Result>,
): Promise<Result> {
  return withFolder(async (dataDir) => {
    const servers: Server[] = [];
    const start: Start = async (command, args, env) => {
      const server = await startServer(command, args, env);
      servers.push(server);
      return server;
    };
    try {
      const args = ['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', RATE_LIMIT];
      const zomma = await start(command, args);
      await zomma.loaded;
      const key = /ZOMMA_[0-9A-HJKMNP-TV-Z]{16}/.exec(zomma.before.join('\n'))![0];
      const gex = await cachedAnswer(zomma, key, GEX_PATH);
      const universe = await cachedAnswer(zomma, key, UNIVERSE_PATH);
      const rawWork: RawWork = { key, cached: { [GEX_PATH]: gex, [UNIVERSE_PATH]: universe } };
      const raw = await start(BUN, [serverFile('raw.ts'), 'work', JSON.stringify(rawWork)]);
      const given = { zomma, raw, key, start, ...options };
      const contests = [
        await postGreeks(given),
        ...(await gets(given, gex, universe)),
        await toolCalls(given),
        await batch(given),
        await binaryBatch(given),
      ];
      for (const { runners } of contests) for (const runner of runners) await runner.check();
      return await work(contests);
    } finally {
      await Promise.all(servers.map((server) => server.stop('SIGTERM')));
    }
  });
}

type Start = (...given: Parameters<typeof startServer>) => Promise<Server>;

interface Given extends ContestOptions {
  readonly zomma: Server;
  readonly raw: Server;
  readonly key: string;
  readonly start: Start;
}

async function postGreeks({ zomma, raw, key, start, connections }: Given): Promise<Contest> {
  const request = requestText('POST', GREEKS_PATH, { 'X-API-Key': key }, OPTION);
  const expected = answerGreeks(OPTION);
  const verify = ({ body }: WireAnswer): void => {
    const answer = JSON.parse(body) as typeof expected;
    for (const name of GREEKS) checkColumn(name, [answer[name]], [expected[name]]);
  };
  const servers: [name: string, server: Server][] = [
    [ZOMMA, zomma],
    [RAW_WORK, raw],
    [RAW_CONSTANT, await start(BUN, [serverFile('raw.ts'), 'constant', JSON.stringify(expected)])],
    [ELYSIA, await start(BUN, [serverFile('elysia.ts')])],
  ];
  const missing: string[] = [];
  if (isInstalled('hono')) servers.push([HONO, await start(BUN, [serverFile('hono.ts')])]);
  else missing.push('Hono (not installed)');
  if (isInstalled('fastify') && Bun.which('node')) {
    servers.push([FASTIFY, await start(['node'], [serverFile('fastify.mjs')])]);
  } else missing.push('Fastify (it or Node is not installed)');
  const runners = servers.map(([name, server]) => requestRunner(name, server, { request, connections, verify }));
  return {
    title: '`POST /api/v1/physics/greeks`',
    ...{ connections, runners, missing },
    targets: [
      { text: 'CPU of raw with the same work over that of Zomma', against: RAW_WORK, by: 'cpu', bound: 0.65 },
      { text: 'CPU of raw with a constant answer over that of Zomma', against: RAW_CONSTANT, by: 'cpu', bound: 0.4 },
      { text: "Zomma's rate over that of Elysia, typed", against: ELYSIA, by: 'rate', bound: 0.5 },
      { text: "Zomma's rate over that of Fastify on Node", against: FASTIFY, by: 'rate', bound: 1 },
    ],
  };
}

async function gets(
  { zomma, raw, key, start, connections }: Given,
  gex: CachedAnswer,
  universe: CachedAnswer,
): Promise<Contest[]> {
  const constant = await start(BUN, [serverFile('raw.ts'), 'constant', gex.body]);
  const common = { connections, missing: [], targets: [] };
  const get = (path: string, { body }: CachedAnswer) => {
    const request = requestText('GET', path, { 'X-API-Key': key });
    // The simulated market moves every minute of a trading session. The other servers have a copy that does not change.
    const verifyZomma = (answer: WireAnswer) => checkText(path, fieldsOf(answer.body), fieldsOf(body));
    const verify = (answer: WireAnswer) => checkText(path, answer.body, body);
    return {
      zomma: requestRunner(ZOMMA, zomma, { request, connections, verify: verifyZomma }),
      peer: (name: string, server: Server) => requestRunner(name, server, { request, connections, verify }),
    };
  };
  const unchanged = (name: string, server: Server) =>
    requestRunner(name, server, {
      // The ETag is requested again for each slice, because the market may have moved.
      request: async () => {
        const { fields } = await cachedAnswer(server, key, GEX_PATH);
        return requestText('GET', GEX_PATH, { 'X-API-Key': key, 'If-None-Match': fields.ETag! });
      },
      ...{ connections, status: 304, verify: () => {} },
    });
  const [getGex, getUniverse] = [get(GEX_PATH, gex), get(UNIVERSE_PATH, universe)];
  return [
    {
      ...common,
      title: `\`GET ${GEX_PATH}\`, cached`,
      runners: [getGex.zomma, getGex.peer(RAW_WORK, raw), getGex.peer(RAW_CONSTANT, constant)],
      targets: [{ text: 'CPU of raw with the same work over that of Zomma', against: RAW_WORK, by: 'cpu', bound: 0.7 }],
    },
    {
      ...common,
      title: `\`GET ${GEX_PATH}\` with If-None-Match: 304`,
      runners: [unchanged(ZOMMA, zomma), unchanged(RAW_WORK, raw)],
    },
    {
      ...common,
      title: `\`GET ${UNIVERSE_PATH}\``,
      runners: [getUniverse.zomma, getUniverse.peer(RAW_WORK, raw)],
    },
  ];
}

async function toolCalls({ zomma, key, connections }: Given): Promise<Contest> {
  const target: Target = { url: zomma.url, key };
  const rest = requestText('POST', `/api/v1/tools/${KELLY.name}`, { 'X-API-Key': key }, KELLY.arguments);
  const { body: expected } = await ask(zomma, rest);
  const calls = await Promise.all(Array.from({ length: connections }, () => sessionCalls(target, KELLY)));
  // Over MCP, numbers have six digits, and the answer has its provenance too.
  const overMcp = JSON.stringify(sixDigits(JSON.parse(expected)));
  const verify = ({ body }: WireAnswer) => {
    const { provenance: _, ...figures } = JSON.parse(body).result?.structuredContent ?? {};
    checkText('structuredContent', JSON.stringify(figures), overMcp);
  };
  return {
    title: '`calculate_kelly_sizing` called over MCP',
    connections,
    runners: [
      requestRunner(`${ZOMMA}, \`/mcp\` with a session`, zomma, { request: calls, connections, verify }),
      requestRunner(REST_TOOL, zomma, {
        request: rest,
        connections,
        verify: ({ body }) => checkText(rest, body, expected),
      }),
    ],
    missing: [],
    targets: [{ text: 'rate over MCP divided by the rate over REST', against: REST_TOOL, by: 'rate', bound: 0.6 }],
  };
}

/**
 * Opens a session, and returns its calls of a tool. Each call has the next request id, which has eight digits and is written over the last
 * id.
 */
export async function sessionCalls(target: Target, params: { readonly name: string }): Promise<NextRequest> {
  const wire = await Wire.open(target.url);
  const headers = await beginStreamable(wire, target);
  wire.cut();
  let id = 10_000_000;
  const message = { jsonrpc: '2.0', id, method: 'tools/call', params };
  const bytes = Buffer.from(requestText('POST', '/mcp', headers, message));
  const idOffset = bytes.lastIndexOf(`"id":${id}`) + '"id":'.length;
  return () => {
    bytes.write(String(++id), idOffset, 'latin1');
    return bytes;
  };
}

async function batch({ zomma, raw, key, start, rows }: Given): Promise<Contest> {
  const body = batchOf(rows);
  const text = JSON.stringify(body);
  const request = requestText('POST', BATCH_PATH, { 'X-API-Key': key }, body);
  const expected = JSON.parse(answerBatch(text)) as Record<string, number[]>;
  const verify = (answer: WireAnswer): void => {
    const columns = JSON.parse(answer.body) as typeof expected;
    for (const name of BATCH_GREEKS) checkColumn(name, columns[name]!, expected[name]!);
  };
  const missing = missingPeers(['numpy', 'scipy', 'fastapi', 'uvloop', 'httptools', 'orjson'], []);
  const fastapi = missing.length === 0 ? await start([PYTHON], [pythonFile('batch_server.py')], PEER_ENV) : undefined;
  return {
    title: `Batch of ${rows.toLocaleString('en-US')} options as JSON`,
    connections: 1,
    threads: 'all',
    runners: [
      requestRunner(ZOMMA, zomma, { request, connections: 1, verify }),
      requestRunner(RAW_WORK, raw, { request, connections: 1, verify }),
      ...(fastapi ? [requestRunner(FASTAPI, fastapi, { request, connections: 1, verify })] : []),
      processRunner(BATCH_WORK, () => answerBatch(text)),
    ],
    missing: missing.map(
      (name) => `${FASTAPI} (${name} is not installed; on another machine, 20,000 options took 11 ms)`,
    ),
    targets: [
      { text: `Zomma's CPU time over that of ${FASTAPI}`, against: FASTAPI, by: 'time', bound: 0.7 },
      {
        text: "Zomma's CPU time over that of parse, kernel and stringify alone",
        against: BATCH_WORK,
        by: 'time',
        bound: 1.5,
      },
    ],
  };
}

async function binaryBatch({ zomma, raw, key, rows }: Given): Promise<Contest> {
  const options = distinctOptions(rows);
  const into = greeks(options);
  const body = new Uint8Array(packed(options).buffer);
  const fields = { 'X-API-Key': key, 'Content-Type': BINARY_TYPE, 'Content-Length': String(body.length) };
  const request = Buffer.concat([Buffer.from(requestText('POST', `${BATCH_PATH}?units=raw`, fields)), body]);
  const verify = (answer: WireAnswer): void => {
    const values = new Float64Array(Uint8Array.from(Buffer.from(answer.body, 'latin1')).buffer);
    BATCH_GREEKS.forEach((name, i) => {
      checkColumn(name, values.subarray(i * rows, (i + 1) * rows), into[name]);
    });
  };
  const { status } = await ask(zomma, request);
  // A version of Zomma without the binary form rejects the media type.
  const isOffered = status !== 415;
  return {
    title: `Batch of ${rows.toLocaleString('en-US')} options as columns of float64`,
    connections: 1,
    runners: [
      ...(isOffered ? [requestRunner(ZOMMA, zomma, { request, connections: 1, verify })] : []),
      requestRunner(RAW_WORK, raw, { request, connections: 1, verify }),
      processRunner(KERNEL, () => greeks(options, undefined, into)),
    ],
    missing: isOffered ? [] : [`${ZOMMA} (not offered: status ${status})`],
    targets: [{ text: "Zomma's CPU time over that of the kernel alone", against: KERNEL, by: 'time', bound: 4 }],
  };
}

const serverFile = (name: string) => join(import.meta.dir, 'http-servers', name);
const BUN = [process.execPath];
