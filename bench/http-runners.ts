import type { Server } from '../test/support/process.ts';
import { requestText, Wire, type WireAnswer } from '../test/support/wire.ts';
import type { CachedAnswer } from './http-servers/raw.ts';
import { type NextRequest, openSocketLoad, type SocketLoad } from './socket-load.ts';

/** A row of a table: a server that gets one kind of request, or work in this process. */
export interface Runner {
  readonly name: string;
  /** Id of the process that does the work. */
  readonly pid: number;
  /** Rejects with an error if the answer differs from the expected one. */
  check(): Promise<void>;
  /** Opens the connections of a slice. */
  open(): Promise<SocketLoad>;
}

export interface RequestOptions {
  /**
   * The request of all connections, as text or bytes. A function makes this text for each slice. An array has a function for each
   * connection, which returns the next request.
   */
  readonly request: string | Uint8Array | readonly NextRequest[] | (() => Promise<string>);
  readonly connections: number;
  /** The expected status, by default 200. */
  readonly status?: number;
  /** Throws an error if the answer is wrong. */
  verify(answer: WireAnswer): void;
}

/** Returns a runner that sends requests to a server over sockets. */
export function requestRunner(
  name: string,
  server: Server,
  { request, connections, status = 200, verify }: RequestOptions,
): Runner {
  const requests = async (): Promise<readonly NextRequest[]> => {
    if (Array.isArray(request)) return request;
    const given = typeof request === 'function' ? await request() : (request as string | Uint8Array);
    const bytes = typeof given === 'string' ? Buffer.from(given) : given;
    return Array.from({ length: connections }, () => () => bytes);
  };
  return {
    name,
    pid: server.pid,
    async check() {
      try {
        const answer = await ask(server, (await requests())[0]!());
        if (answer.status !== status) throw new Error(`status ${answer.status}\n${answer.head}\n${answer.body}`);
        verify(answer);
      } catch (error) {
        const end = await Promise.race([
          server.ended.then((code) => `, ended with code ${code}`),
          Bun.sleep(100).then(() => ''),
        ]);
        throw new Error(`The answer of ${name}${end} differs from the expected one: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
    open: async () => openSocketLoad(server.url, await requests(), status),
  };
}

/** Returns a runner that repeats work in this process. */
export function processRunner(name: string, work: () => unknown): Runner {
  const run = async (ms: number) => {
    const startedAt = performance.now();
    let requests = 0;
    do {
      work();
      requests++;
    } while (performance.now() - startedAt < ms);
    return { requests, seconds: (performance.now() - startedAt) / 1_000, unexpected: 0 };
  };
  return { name, pid: process.pid, check: async () => {}, open: async () => ({ run, close() {} }) };
}

/** Returns a server's response to a GET request, without the header fields that differ between responses. */
export async function cachedAnswer(server: Server, key: string, path: string): Promise<CachedAnswer> {
  const { status, head, body } = await ask(server, requestText('GET', path, { 'X-API-Key': key }));
  if (status !== 200) throw new Error(`GET ${path}: status ${status}`);
  const fields = [...head.matchAll(/^([\w-]+): (.*?)\r?$/gm)].map(([, name, value]) => [name!, value!] as const);
  return { body, fields: Object.fromEntries(fields.filter(([name]) => !OWN_FIELDS.has(name.toLowerCase()))) };
}

/** Header fields that differ between responses, in lower case. */
const OWN_FIELDS = new Set(['x-request-id', 'ratelimit-policy', 'ratelimit', 'date', 'content-length']);

/** Sends one request over a connection of its own. */
export async function ask({ url }: Server, request: string | Uint8Array): Promise<WireAnswer> {
  const wire = await Wire.open(url);
  return wire.ask(request).finally(() => wire.cut());
}

/** Throws an error if a text differs from the expected one. */
export function checkText(what: string, value: string, expected: string): void {
  if (value !== expected) throw new Error(`${what} is ${value.slice(0, 300)}, not ${expected.slice(0, 300)}`);
}

/** Throws an error if the columns have different lengths, or if values of a row differ by more than 1e-9 of the expected value, or of 1e-6. */
export function checkColumn(name: string, values: ArrayLike<number>, expected: ArrayLike<number>): void {
  if (values?.length !== expected.length) throw new Error(`${name} has ${values?.length} rows`);
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(values[i]! - expected[i]!);
    if (difference <= TOLERANCE * Math.max(Math.abs(expected[i]!), 1e-6)) continue;
    throw new Error(`${name} is ${values[i]} in row ${i}, not ${expected[i]}`);
  }
}

/** Returns the names of an answer's fields, separated by commas. */
export function fieldsOf(body: string): string {
  return Object.keys(JSON.parse(body)).join();
}

/** Largest difference, relative to the expected value. */
const TOLERANCE = 1e-9;
