import { BINARY, type Server, startServer, withFolder } from '../test/support/process.ts';
import { CALLS, type CallFigures, type CallOptions, measureCalls } from './mcp-calls.ts';
import {
  BACK_SHARE,
  measureStreams,
  STEADY_BYTES,
  STEADY_S,
  STREAM_KINDS,
  type StreamFigures,
  type StreamOptions,
  WARM_STREAMS,
} from './mcp-streams.ts';
import { generatedBy, runSection } from './turns.ts';

const HEADING = '## The MCP server: idle streams and tool calls';
/** Target: the resident memory of an idle stream, bytes. */
const STREAM_BYTES_MAX = 12 * 1024;
/** Target: the 99th percentile of a tool call divided by that of the same call over REST, with many sessions at once. */
const CALL_RATIO_MAX = 3;

export interface McpOptions {
  /** Numbers of streams. Each number of streams of each kind is measured with a new server. */
  readonly streams: readonly Pick<StreamOptions, 'streams' | 'crowds'>[];
  /** The other options of the measurements of streams. */
  readonly idle: Omit<StreamOptions, 'streams' | 'crowds'>;
  /** Number of sessions that call at once. One session alone is measured too. */
  readonly sessions: number;
  readonly calls: Omit<CallOptions, 'sessions'>;
}

export interface McpFigures {
  readonly idle: readonly StreamFigures[];
  readonly calls: readonly {
    readonly tool: string;
    readonly sessions: number;
    readonly figures: readonly CallFigures[];
  }[];
}

const FULL: McpOptions = {
  streams: [
    { streams: 1_000, crowds: 3 },
    { streams: 10_000, crowds: 1 },
  ],
  idle: { asks: 5_000, settleS: 15, backS: 60 },
  sessions: 50,
  calls: { rounds: 9, sliceMs: 1_000 },
};

/** Measures servers that `command` starts. Each measurement of idle streams has a new server, and all tool calls go to one server. */
export async function measureMcp(command: readonly string[], options: McpOptions): Promise<McpFigures> {
  const idle: StreamFigures[] = [];
  for (const streams of options.streams) {
    for (const kind of STREAM_KINDS) {
      process.stderr.write(`${streams.streams} of ${kind} …\n`);
      idle.push(
        await withServer(command, (server, key) => measureStreams(server, key, kind, { ...options.idle, ...streams })),
      );
    }
  }
  const calls = await withServer(command, async ({ url }, key) => {
    const measured: McpFigures['calls'][number][] = [];
    for (const sessions of [options.sessions, 1]) {
      for (const tool of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
        const figures = await measureCalls({ url, key }, tool, { ...options.calls, sessions });
        measured.push({ tool, sessions, figures });
      }
    }
    return measured;
  });
  return { idle, calls };
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf({ idle, calls }: McpFigures): string {
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  const crowded = calls.filter(({ sessions }) => sessions > 1).flatMap(({ figures }) => figures);
  return `${HEADING}

${generatedBy('bun bench/mcp.ts')}

The server is the compiled binary in its own process. Lightweight clients in another process connect over loopback sockets.

Idle streams, with a new server for each row:

- KiB per stream is the resident memory with the streams open, less the resident memory before, divided by the number of streams. The memory
  is measured when it has changed by less than ${STEADY_BYTES / 1024} KiB for ${STEADY_S} s, or after ${FULL.idle.settleS} s. The memory before is measured after ${WARM_STREAMS} other streams have
  been opened and closed. For a thousand streams, the figures of memory are medians of three runs.
- Released memory is the share that the server has returned to the system when it has reached ${100 * BACK_SHARE} %, or ${FULL.idle.backS} s after the
  streams were closed. It is above 100 % if memory from before is returned too. Clients of \`/mcp\` also end their sessions.

| idle streams | number | KiB per stream | /health p50, p99, ms, with them | p50, p99, ms, without them | memory released | ${100 * BACK_SHARE} % after |
|---|---|---|---|---|---|---|
${idle.map(idleRow).join('\n')}

- <= ${STREAM_BYTES_MAX / 1024} KiB resident per stream: ${reached(idle.every(({ bytes }) => bytes <= STREAM_BYTES_MAX))}
- ${100 * BACK_SHARE} % of the memory released within ${FULL.idle.backS} s: ${reached(idle.every(({ back }) => back >= BACK_SHARE))}
- no stream ended by the server: ${reached(idle.every(({ lost }) => lost === 0))}

The next four tables have the times of tool calls. Each session sends its next call as soon as it has the answer to the last one. The ways
take turns. Figures are medians, and ratios are computed within each round, with quartiles in parentheses.
${calls.map(callTable).join('')}
- tool calls <= ${CALL_RATIO_MAX}x the 99th percentile of the same calls over REST, with many sessions at once: ${reached(crowded.every(({ ratio }) => ratio[1] <= CALL_RATIO_MAX))}
`;
}

function idleRow({ kind, streams, bytes, alone, beside, back, backAfterS }: StreamFigures): string {
  const ms = ({ p50, p99 }: StreamFigures['alone']) => `${p50.toFixed(2)}, ${p99.toFixed(2)}`;
  const known = (value: number, text: string) => (Number.isNaN(value) ? 'not known' : text);
  const backAfter =
    backAfterS === Number.POSITIVE_INFINITY ? `not within ${FULL.idle.backS} s` : `${backAfterS.toFixed(0)} s`;
  const cells = [
    ...[kind, streams.toLocaleString('en-US'), known(bytes, (bytes / 1024).toFixed(1)), ms(beside), ms(alone)],
    ...[known(back, `${(100 * back).toFixed(0)} %`), known(back, backAfter)],
  ];
  return `| ${cells.join(' | ')} |`;
}

function callTable({ tool, sessions, figures }: McpFigures['calls'][number]): string {
  const rows = figures.map(({ caller, perSecond, p50, p99, ratio: [low, ratio, high] }) => {
    const times = `${p50.toFixed(2)} | ${p99.toFixed(2)} | ${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
    return `| ${caller} | ${Math.round(perSecond).toLocaleString('en-US')} | ${times} |\n`;
  });
  return `
| \`${tool}\`, ${sessions === 1 ? 'one session' : `${sessions} sessions at once`} | calls a second | p50, ms | p99, ms | p99 over REST's |
|---|---|---|---|---|
${rows.join('')}`;
}

/** Starts a server with a simulated market, runs `work` after the first load, and stops the server. */
function withServer<Result>(
  command: readonly string[],
  work: (server: Server, key: string) => Promise<Result>,
): Promise<Result> {
  return withFolder(async (dataDir) => {
    const server = await startServer(command, ['start', '--port', '0', '--data-dir', dataDir, '--rate-limit', 'off']);
    await server.loaded;
    const key = /ZOMMA_[0-9A-HJKMNP-TV-Z]{16}/.exec(server.before.join('\n'))![0];
    return work(server, key).finally(() => server.stop('SIGTERM'));
  });
}

/** `bun bench/mcp.ts [--write]` takes ten minutes. */
if (import.meta.main) await runSection(HEADING, async () => sectionOf(await measureMcp(BINARY, FULL)));
