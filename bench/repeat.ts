import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { TOOLS } from '../src/operations/registry.ts';
import { addMember, BINARY, type Server, startServer, withFolder } from '../test/support/process.ts';
import { exampleArguments } from '../test/support/tool-arguments.ts';
import { requestText, Wire } from '../test/support/wire.ts';
import { CHAINS, CHAINS_ARE, putChain } from './chain-files.ts';
import { sessionCalls } from './http-contests.ts';
import { cachedAnswer } from './http-runners.ts';
import { type NextRequest, openSocketLoad } from './socket-load.ts';
import {
  cpuOf,
  generatedBy,
  inTurns,
  type Median,
  medianOf,
  medianText,
  ratioOf,
  runSection,
  targetLine,
  untilIdle,
} from './turns.ts';

const HEADING = '## Answers that are asked for again';
/** Target: CPU of a repeat divided by that of the universe, and the addition for each 100 KiB of the body. */
const RATIO_MAX = 3;
const BODY_STEP = 100 * 1024;
/** Target: CPU of the view's 304, ms. */
const UNCHANGED_MS = 0.1;
/** Rows of a table: those that come closest to their bound, or exceed it by most. */
const SHOWN = 12;
const MEMBER = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const UNIVERSE = '/api/v1/universe';
export const VIEW = `/api/v1/nodes/gex/${CHAINS.index}/view`;
/** Requests with arguments, besides the GET routes with their defaults. */
const VARIANTS = [
  `/api/v1/surface/${CHAINS.index}?detail=grid`,
  `/api/v1/nodes/gex/${CHAINS.index}/hedging?format=image`,
  `/api/v1/nodes/gex/${CHAINS.name}/view`,
  `/api/v1/nodes/gex/${CHAINS.name}/profile`,
];
/** Routes that do not read the market, whose answers never end, or that need snapshots of two days. */
const LEFT_OUT = /\/(?:auth|account|stream|combined|open-interest)\b/;

export interface RepeatOptions {
  readonly rounds: number;
  /** Time for which a request is repeated in a round, ms. At least one request is sent. */
  readonly sliceMs: number;
  /** Number of seconds for which each GET of the index is asked for once a second. */
  readonly pollS: number;
}

const FULL: RepeatOptions = { rounds: 11, sliceMs: 12, pollS: 60 };

export interface RepeatRow {
  readonly what: string;
  /** Length of the body as sent, bytes. */
  readonly bytes: number;
  /** CPU time of the main thread, and of all threads, for a request, ms. */
  readonly main: number;
  readonly all: number;
  /** CPU of the main thread divided by that of the universe in the same round. */
  readonly ratio: Median;
}

interface Repeated {
  readonly what: string;
  readonly next: NextRequest;
  readonly status?: number;
}

/** Starts a server with a key on a drop folder that has the chains of an index and of two names. Runs `work` when the server is idle. */
export function withChains<T>(
  command: readonly string[],
  work: (given: { server: Server; key: string; restart(): Promise<Server> }) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const [drop, data] = [join(folder, 'drop'), join(folder, 'data')];
    mkdirSync(drop);
    for (const which of ['index', 'name', 'beside'] as const) putChain(drop, which);
    let server: Server | undefined;
    const restart = async () => {
      await server?.stop('SIGTERM');
      const args = ['serve', '--feed', `files:${drop}`, '--data-dir', data, '--port', '0', '--rate-limit', '1000000/s'];
      server = await startServer(command, args);
      await server.loaded;
      await untilIdle(server.pid);
      return server;
    };
    try {
      await restart();
      const key = await addMember(command, data, MEMBER);
      return await work({ server: server!, key, restart });
    } finally {
      await server?.stop('SIGTERM');
    }
  });
}

/** Returns the requests whose repeats are measured: GET routes, and tools over REST and over MCP. */
async function requestsOf(server: Server, key: string): Promise<Repeated[]> {
  const bytes = (text: string): NextRequest => {
    const request = Buffer.from(text);
    return () => request;
  };
  const get = (path: string, fields: Record<string, string> = {}) =>
    bytes(requestText('GET', path, { 'X-API-Key': key, ...fields }));
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const routes = Object.entries(paths)
    .filter(([path, methods]) => path.startsWith('/api/') && 'get' in methods && !LEFT_OUT.test(path))
    .map(([path]) => path.replace('{ticker}', CHAINS.index));
  const combined = `/api/v1/nodes/gex/${CHAINS.name}/combined?with=${CHAINS.beside}`;
  const { fields } = await cachedAnswer(server, key, VIEW);
  const { expiry } = JSON.parse((await cachedAnswer(server, key, VIEW.replace('/view', ''))).body);
  const etag = fields.ETag ?? fields.etag!;
  const tools: Repeated[] = [];
  for (const { name } of TOOLS) {
    // The dates of the examples are no expiries of the chain.
    const example = Object.entries(exampleArguments(name, CHAINS.index));
    const given = Object.fromEntries(
      example.map(([each, value]) => [each, ISO_DATE.test(`${value}`) ? expiry : value]),
    );
    for (const query of ['', '?extended=true']) {
      const path = `/api/v1/tools/${name}${query}`;
      tools.push({ what: `POST ${path}`, next: bytes(requestText('POST', path, { 'X-API-Key': key }, given)) });
    }
    tools.push({
      what: `MCP ${name}`,
      next: await sessionCalls({ url: server.url, key }, { name, arguments: given } as never),
    });
  }
  return [
    ...[...routes, ...VARIANTS, combined].map((path) => ({ what: `GET ${path}`, next: get(path) })),
    { what: `GET ${VIEW}, br`, next: get(VIEW, { 'Accept-Encoding': 'br' }) },
    { what: `GET ${VIEW}, gzip`, next: get(VIEW, { 'Accept-Encoding': 'gzip' }) },
    { what: NOT_MODIFIED, next: get(VIEW, { 'If-None-Match': etag }), status: 304 },
    ...tools,
  ];
}

const ISO_DATE = /^\d{4}-\d\d-\d\d$/;
const NOT_MODIFIED = `GET ${VIEW}, 304`;

export interface RepeatFigures {
  readonly rows: readonly RepeatRow[];
  readonly polled: readonly (RepeatRow & { readonly late: number })[];
}

export function measureRepeats(command: readonly string[], options: RepeatOptions): Promise<RepeatFigures> {
  return withChains(command, async ({ server, key }) => {
    const universe = Buffer.from(requestText('GET', UNIVERSE, { 'X-API-Key': key }));
    const base = await slicer(server, { what: UNIVERSE, next: () => universe });
    for (let i = 0; i < 100; i++) await base.run(options.sliceMs);
    const rows: RepeatRow[] = [];
    const requests = await requestsOf(server, key);
    for (const request of requests) {
      const own = await slicer(server, request);
      // The compiler optimises what runs often.
      for (let i = 0; i < WARM_SLICES && options.sliceMs > 0; i++) await own.run(options.sliceMs);
      const turns = await inTurns(options.rounds, [() => base.run(options.sliceMs), () => own.run(options.sliceMs)]);
      own.close();
      const [others, slices] = turns as [Slice[], Slice[]];
      rows.push(rowOf(request.what, await own.bytes(), slices, others));
    }
    return { rows, polled: options.pollS === 0 ? [] : await poll(server, base, requests, options.pollS) };
  });
}

interface Slice {
  readonly main: number;
  readonly all: number;
}

function rowOf(what: string, bytes: number, slices: readonly Slice[], others: readonly Slice[]): RepeatRow {
  const [main, all] = [slices.map((each) => each.main), slices.map((each) => each.all)];
  const ratio = ratioOf(
    main,
    others.map((each) => each.main),
  );
  return { what, bytes, main: quantile(main, 0.5), all: quantile(all, 0.5), ratio };
}

/** Returns what measures a request: CPU time per request of a slice. The connection stays open between slices. */
async function slicer(server: Server, { what, next, status = 200 }: Repeated) {
  const load = await openSocketLoad(server.url, [next], status);
  return {
    async run(ms: number): Promise<Slice> {
      const before = cpuOf(server.pid);
      const { requests, unexpected } = await load.run(ms);
      // The kernel counts the time of a thread when the thread rests.
      await Bun.sleep(REST_MS);
      const after = cpuOf(server.pid);
      if (unexpected > 0) throw new Error(`${what} has another status than ${status}`);
      return { main: (after.main - before.main) / requests, all: (after.all - before.all) / requests };
    },
    async bytes() {
      const wire = await Wire.open(server.url);
      const { body } = await wire.ask(next()).finally(() => wire.cut());
      return body.length;
    },
    close: load.close,
  };
}

const REST_MS = 2;
const WARM_SLICES = 10;

/** Asks for each GET of the index, and for the universe, once a second. The drop folder is idle. */
async function poll(
  server: Server,
  base: Awaited<ReturnType<typeof slicer>>,
  requests: readonly Repeated[],
  seconds: number,
) {
  const gets = requests.filter(({ what }) => what.startsWith('GET ') && what.includes(CHAINS.index));
  const slicers = await Promise.all(gets.map((each) => slicer(server, each)));
  const others: Slice[] = [];
  const slices = gets.map(() => [] as Slice[]);
  const startedAt = performance.now();
  for (let second = 0; second < seconds; second++) {
    others.push(await base.run(0));
    for (const [i, each] of slicers.entries()) slices[i]!.push(await each.run(0));
    await Bun.sleep(Math.max(0, startedAt + 1_000 * (second + 1) - performance.now()));
  }
  return Promise.all(
    gets.map(async ({ what }, i) => {
      const row = rowOf(what, await slicers[i]!.bytes(), slices[i]!, others);
      slicers[i]!.close();
      const middle = quantile(
        others.map(({ main }) => main),
        0.5,
      );
      const late = slices[i]!.filter(({ main }) => main / middle > 2 * boundOf(row)).length / seconds;
      return { ...row, late };
    }),
  );
}

function boundOf({ bytes }: RepeatRow): number {
  return RATIO_MAX * (1 + bytes / BODY_STEP);
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf({ rows, polled }: RepeatFigures, options: RepeatOptions): string {
  const excess = (row: RepeatRow) => row.ratio[1] / boundOf(row);
  const worst = (all: readonly RepeatRow[]) => Math.max(...all.map(excess));
  const [gets, tools] = [
    rows.filter(({ what }) => what.startsWith('GET')),
    rows.filter(({ what }) => !what.startsWith('GET')),
  ];
  const line = (row: RepeatRow) =>
    `| \`${row.what}\` | ${row.bytes.toLocaleString('en-US')} | ${(1e3 * row.main).toPrecision(3)} | ${(1e3 * row.all).toPrecision(3)} | ${medianText(row.ratio)} | ${boundOf(row).toFixed(1)} |`;
  const shown = (all: readonly RepeatRow[], length: number) =>
    all.toSorted((a, b) => excess(b) - excess(a)).slice(0, length);
  const seldom = polled.length > 0 ? Math.max(...polled.map(({ late }) => late)) : Number.NaN;
  return `${HEADING}

${generatedBy('bun bench/repeat.ts')}

The server reads a drop folder that does not change (${CHAINS_ARE}). One client asks for the same answer again and again over a socket, in turns with
\`GET ${UNIVERSE}\`, in ${options.rounds} rounds. Figures are CPU time of the server's main thread and of all its threads, medians; ratios to the
universe are computed within each round, with their 95 % interval. A bound is ${RATIO_MAX}, and ${RATIO_MAX} more for each 100 KiB of the body. ${rows.length} requests
are measured: all GET routes of the market, and all tools over REST, extended and over MCP. The table has those that are closest to their bound.

| request | bytes | main thread, µs | all threads, µs | main thread over the universe's | bound |
|---|---|---|---|---|---|
${shown(rows, process.argv.includes('--all') ? rows.length : SHOWN)
  .map(line)
  .join('\n')}

${
  polled.length === 0
    ? ''
    : `The same GETs of the index, each once a second for ${options.pollS} s:

| request | bytes | main thread, µs | all threads, µs | main thread over the universe's | bound |
|---|---|---|---|---|---|
${shown(polled, SHOWN).map(line).join('\n')}

`
}${targetLine('GET, repeated: the largest ratio over its bound', worst(gets), 1)}${targetLine('tools, repeated: the largest ratio over its bound', worst(tools), 1)}${targetLine('GET, once a second: the largest ratio over its bound', polled.length > 0 ? worst(polled) : Number.NaN, 1)}${targetLine('GET, once a second: the largest share of answers that take twice the bound', seldom, 0.05)}${targetLine('304 of the view, ms', medianOf(rows.filter(({ what }) => what === NOT_MODIFIED).map(({ main }) => main))[1], UNCHANGED_MS)}`;
}

if (import.meta.main) await runSection(HEADING, async () => sectionOf(await measureRepeats(BINARY, FULL), FULL));
