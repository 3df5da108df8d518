import { ACCEPT, INITIALIZE } from '../test/support/mcp-wire.ts';
import { BINARY, type Server } from '../test/support/process.ts';
import { requestText } from '../test/support/wire.ts';
import { CHAINS, CHAINS_ARE } from './chain-files.ts';
import { ask } from './http-runners.ts';
import { VIEW, withChains } from './repeat.ts';
import { type Cpu, cpuOf, generatedBy, inTurns, medianOf, medianText, runSection, targetLine } from './turns.ts';

const HEADING = '## First answers of a process';
const RADAR = '/api/v1/tools/run_strategic_omni_radar';

interface ColdRequest {
  readonly what: string;
  readonly request: (key: string) => string;
  /** Target: CPU of the main thread, ms. */
  readonly boundMs: number;
}

const REQUESTS: readonly ColdRequest[] = [
  { what: `GET ${VIEW}`, request: (key) => requestText('GET', VIEW, { 'X-API-Key': key }), boundMs: 120 },
  {
    what: `POST ${RADAR}`,
    request: (key) => requestText('POST', RADAR, { 'X-API-Key': key }, { ticker: CHAINS.index }),
    boundMs: 90,
  },
  {
    what: 'MCP initialize',
    request: (key) => requestText('POST', '/mcp', { 'X-API-Key': key, ...ACCEPT }, INITIALIZE),
    boundMs: 15,
  },
];

/**
 * Measures first answers. Each request goes to a new process, whose data folder already has the chains and their levels, when the process
 * uses no CPU any more. Returns the figures of each request.
 */
export function measureCold(command: readonly string[], rounds: number): Promise<Cpu[][]> {
  return withChains(command, ({ key, restart }) =>
    inTurns(
      rounds,
      REQUESTS.map(
        ({ request }) =>
          async () =>
            firstAnswer(await restart(), request(key)),
      ),
    ),
  );
}

async function firstAnswer(server: Server, request: string): Promise<Cpu> {
  const before = cpuOf(server.pid);
  const { status, body } = await ask(server, request);
  if (status !== 200) throw new Error(`status ${status}: ${body}`);
  await Bun.sleep(REST_MS);
  const after = cpuOf(server.pid);
  return { main: after.main - before.main, all: after.all - before.all };
}

/** Time after an answer in which the server ends its work for the answer, ms. */
const REST_MS = 20;

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(figures: readonly (readonly Cpu[])[]): string {
  const medians = figures.map((own) => ({
    main: medianOf(own.map(({ main }) => main)),
    all: medianOf(own.map(({ all }) => all)),
  }));
  return `${HEADING}

${generatedBy('bun bench/cold.ts')}

Each request goes to a new process, whose data folder already has the chains and their levels (${CHAINS_ARE}). Figures
are CPU time, the medians of ${figures[0]!.length} processes, with their 95 % interval.

| first request | main thread, ms | all threads, ms |
|---|---|---|
${REQUESTS.map(({ what }, i) => `| \`${what}\` | ${medianText(medians[i]!.main)} | ${medianText(medians[i]!.all)} |`).join('\n')}

${REQUESTS.map(({ what, boundMs }, i) => targetLine(`${what}: main thread, ms`, medians[i]!.main[1], boundMs)).join('')}`;
}

if (import.meta.main) await runSection(HEADING, async () => sectionOf(await measureCold(BINARY, 9)));
