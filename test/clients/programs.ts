import { run } from '../support/process.ts';
import { answerOf, type ClientUnderTest, type Connection, type Target, type Transport } from './client.ts';
import { bridged, type Command, local, program } from './doors.ts';
import { overStdio } from './stdio.ts';

const INSPECTOR = '@modelcontextprotocol/inspector';

/** Programs between a client and the server, and the inspector's command line. */
export const PROGRAMS: readonly ClientUnderTest[] = [
  bridge('mcp-remote', 'HTTP+SSE', ({ url, key }) => [`${url}/sse`, '--header', `X-API-Key:${key}`]),
  bridge('mcp-remote', 'Streamable HTTP', ({ url, key }) => [`${url}/mcp`, '--header', `X-API-Key:${key}`]),
  bridge('supergateway', 'HTTP+SSE', ({ url, key }) => ['--sse', `${url}/sse`, '--header', `X-API-Key:${key}`]),
  ...(
    [
      ['HTTP+SSE', '--sse', '/sse'],
      ['Streamable HTTP', '--streamableHttp', '/mcp'],
    ] as const
  ).map(([transport, flag, path]) => ({
    ...bridge('supergateway', transport, ({ url, key }) => [flag, `${url}${path}`, '--oauth2Bearer', key]),
    mode: 'bearer',
  })),
  inspector('HTTP+SSE', ({ url, key }) => [`${url}/sse`, '--transport', 'sse', '--header', `X-API-Key: ${key}`]),
  ...(['legacy', 'modern'] as const).map((era) => ({
    ...inspector('Streamable HTTP', ({ url, key }) => [
      ...[`${url}/mcp`, '--transport', 'http', '--protocol-era', era],
      ...['--header', `X-API-Key: ${key}`],
    ]),
    mode: era,
  })),
  inspector('stdio', (to) => words(local(to))),
  inspector('stdio, bridged', (to) => words(bridged(to))),
];

const FILES = {
  'mcp-remote': 'mcp-remote/dist/proxy.js',
  supergateway: 'supergateway/dist/index.js',
  [INSPECTOR]: `${INSPECTOR}/clients/launcher/build/index.js`,
};

/** A program that speaks stdio to its client. */
function bridge(
  packageName: 'mcp-remote' | 'supergateway',
  transport: Transport,
  args: (to: Target) => string[],
): ClientUnderTest {
  return {
    packageName,
    transport,
    runtime: 'node',
    connect: (to) => overStdio(program('node', FILES[packageName], args(to), to.dataDir)),
  };
}

function words({ command, args }: Command): string[] {
  return [command, ...args];
}

function inspector(transport: Transport, server: (to: Target) => string[]): ClientUnderTest {
  return {
    packageName: INSPECTOR,
    transport,
    runtime: 'bun',
    asksOnlyForListed: true,
    connect: async (to) => inspecting(server(to), to.dataDir),
  };
}

function inspecting(server: readonly string[], home: string): Connection {
  const ask = async (...args: string[]) => {
    const { command, args: all } = program(
      'bun',
      FILES[INSPECTOR],
      ['--cli', ...server, '--format', 'json', ...args],
      home,
    );
    const { code, stdout, stderr } = await run([command], all);
    if (code !== 0 && stdout === '') throw new Error(stderr);
    return JSON.parse(stdout).result ?? JSON.parse(stdout);
  };
  return {
    list: async () => (await ask('--method', 'tools/list')).tools.map(({ name }: { name: string }) => name),
    call: async (name, args) =>
      answerOf(await ask('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args))),
    close: async () => {},
  };
}
