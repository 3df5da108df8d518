import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ExampleCall } from '../support/openapi-calls.ts';
import { cleanEnv } from '../support/process.ts';
import { dependencies } from './package.json';

/** A generator of TypeScript clients, and how its clients are called. */
export interface Generator {
  readonly name: keyof typeof dependencies;
  /** The arguments of the generator's command. It reads `openapi.json` of its folder. */
  readonly command: readonly string[];
  readonly config?: (baseUrl: string) => Readonly<Record<string, string>>;
  /** True if the client decodes every answer that is not JSON as text, which it does because the errors of the operation are JSON. */
  readonly readsText?: true;
  /** A program that needs the names of the document's schemas to compile. */
  readonly typed: string;
  /** Returns a function that calls an operation of the generated client. */
  open(folder: string, target: Target): Promise<(call: ExampleCall) => Promise<Answered>>;
}

interface Target {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly data: unknown;
}

const NODE_MODULES = join(import.meta.dir, 'node_modules');
export const areInstalled = Object.keys(dependencies).every((name) => existsSync(join(NODE_MODULES, name)));

const NAMES = 'Levels, LevelsEvent, OptionQuote, Problem, Provenance, Regime';
const regimeOf = 'export const regimeOf = (event: LevelsEvent, row: Levels): Regime[] => [event.regime, row.regime];';
const named = (module: string) => `import type { ${NAMES} } from '${module}';
${regimeOf}
export const isOld = ({ stale }: Provenance, { bid }: OptionQuote, { code }: Problem): boolean => stale || bid === null || code === 'loading';
`;

/** Calls a generated function with its arguments in the order: parameters of the path, body, the rest. */
type Functions = Readonly<Record<string, (...args: unknown[]) => Promise<Answered>>>;
const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const bodyOf = ({ body, columns }: ExampleCall) => (columns ? new Blob([columns]) : body);
/** The example of an operation without its undefined parts, as positional arguments. */
function positional(call: ExampleCall, query: Readonly<Record<string, unknown>>): unknown[] {
  const body = bodyOf(call);
  const hasQuery = (call.described.parameters ?? []).some((each) => '$ref' in each || each.in === 'query');
  return [...Object.values(call.pathParameters), ...(body === undefined ? [] : [body]), ...(hasQuery ? [query] : [])];
}

export const GENERATORS: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    command: ['openapi-typescript', 'openapi.json', '-o', 'schema.ts'],
    typed: `import createClient from 'openapi-fetch';
import type { components, paths } from './schema';
type Schemas = components['schemas'];
type Levels = Schemas['Levels'];
type LevelsEvent = Schemas['LevelsEvent'];
type Regime = Schemas['Regime'];
${regimeOf}
export async function wallsOf(ticker: string): Promise<number[]> {
  const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' });
  const { data } = await client.GET('/api/v1/nodes/gex/{ticker}', { params: { path: { ticker } } });
  return data ? [data.put_wall, data.call_wall] : [];
}
`,
    async open(folder, target) {
      const { default: createClient } = await import(join(folder, 'node_modules/openapi-fetch/dist/index.mjs'));
      const client = createClient(target);
      return async (call) => {
        const isJson = Object.keys(call.described.responses[200]!.content!)[0] === 'application/json';
        const { data, response } = await client[call.method](call.path, {
          params: { path: call.pathParameters, query: call.query },
          body: bodyOf(call),
          ...(call.columns && {
            bodySerializer: (body: unknown) => body,
            headers: { 'Content-Type': 'application/octet-stream' },
          }),
          parseAs: isJson ? 'json' : 'blob',
        });
        return { status: response.status, data };
      };
    },
  },
  {
    name: '@hey-api/openapi-ts',
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'client'],
    typed: `${named('./client')}
import { gexStream } from './client';
export async function firstRegime(ticker: string): Promise<Regime | undefined> {
  const { stream } = await gexStream({ path: { ticker } });
  for await (const event of stream) return event.regime;
  return undefined;
}
`,
    async open(folder, target) {
      const functions = await import(join(folder, 'client/sdk.gen.ts'));
      const { client } = await import(join(folder, 'client/client.gen.ts'));
      client.setConfig(target);
      return async (call) => {
        const { data, response } = await functions[camel(call.operationId)]({
          path: call.pathParameters,
          query: call.query,
          body: bodyOf(call),
        });
        return { status: response.status, data };
      };
    },
  },
  {
    name: 'orval',
    command: ['orval', '--config', 'orval.config.json'],
    config: (baseUrl) => ({
      'orval.config.json': JSON.stringify({
        zomma: { input: './openapi.json', output: { target: './client.ts', client: 'fetch', baseUrl } },
      }),
    }),
    typed: named('./client'),
    async open(folder, { headers }) {
      const functions: Functions = await import(join(folder, 'client.ts'));
      return async (call) => {
        const hasQuery = (call.described.parameters ?? []).some((each) => !('$ref' in each) && each.in === 'query');
        const args = positional(call, call.query).slice(
          0,
          hasQuery ? undefined : Object.keys(call.pathParameters).length + (bodyOf(call) === undefined ? 0 : 1),
        );
        return functions[camel(call.operationId)]!(...args, { headers });
      };
    },
  },
  {
    name: 'oazapfts',
    readsText: true,
    command: ['oazapfts', 'openapi.json', 'client.ts'],
    typed: named('./client'),
    async open(folder, { baseUrl, headers }) {
      const functions = await import(join(folder, 'client.ts'));
      Object.assign(functions.defaults, { baseUrl, headers });
      return (call) => {
        const query = Object.entries(call.query).map(([name, value]) => [
          name === 'with' ? '$with' : camel(name),
          value,
        ]);
        return functions[camel(call.operationId)](...positional(call, Object.fromEntries(query)));
      };
    },
  },
];

const STRICT = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    skipLibCheck: true,
    types: [],
  },
};

/** Generates the client of a document in a folder, and compiles it. Throws `Error` with the output of a command that fails. */
export async function generate(
  generator: Generator,
  folder: string,
  document: unknown,
  baseUrl: string,
): Promise<void> {
  symlinkSync(NODE_MODULES, join(folder, 'node_modules'));
  const files = {
    'openapi.json': JSON.stringify(document),
    'tsconfig.json': JSON.stringify(STRICT),
    'package.json': '{"type":"module"}',
    'typed.ts': generator.typed,
    ...generator.config?.(baseUrl),
  };
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  for (const [program, ...args] of [generator.command, ['tsc', '-p', '.']] as string[][]) {
    const child = Bun.spawn(['node', join(NODE_MODULES, '.bin', program!), ...args], {
      cwd: folder,
      env: cleanEnv(),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const output = `${await new Response(child.stdout).text()}${await new Response(child.stderr).text()}`;
    if ((await child.exited) !== 0) throw new Error(`${program} of ${generator.name}: ${output}`);
  }
}
