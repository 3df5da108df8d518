import type { Server } from '../test/support/process.ts';
import { requestText, Wire, type WireAnswer } from '../test/support/wire.ts';
import type { CachedAnswer } from './http-servers/raw.ts';
import { type NextRequest, openSocketLoad, type SocketLoad } from './socket-load.ts';

/** What is measured in a row: a server under one kind of request, or work in this process. */
export interface Runner {
  readonly name: string;
  /** Of the process that does the work. */
  readonly pid: number;
  /** Throws an error if the answer differs from the expected one. */
  check(): Promise<void>;
  open(): Promise<SocketLoad>;
}

export interface Asked {
  /** The same bytes on every connection, made once or for each slice; or a source of requests for each connection. */
  readonly request: string | Uint8Array | readonly NextRequest[] | (() => Promise<string>);
  readonly connections: number;
  readonly status?: number;
  verify(answer: WireAnswer): void;
}

/** Sends a server the same request over sockets. */
export function asked(name: string, server: Server, { request, connections, status = 200, verify }: Asked): Runner {
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
      const answer = await ask(server, (await requests())[0]!());
      try {
        if (answer.status !== status) throw new Error(`status ${answer.status}\n${answer.head}\n${answer.body}`);
        verify(answer);
      } catch (error) {
        throw new Error(`${name} gives another answer: ${(error as Error).message}`, { cause: error });
      }
    },
    open: async () => openSocketLoad(server.url, await requests(), status),
  };
}

/** The work in this process, repeated. */
export function inProcess(name: string, work: () => unknown): Runner {
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

/** A server's response to a GET request, without the header fields that belong to it alone. */
export async function cachedAnswer(server: Server, key: string, path: string): Promise<CachedAnswer> {
  const { status, head, body } = await ask(server, requestText('GET', path, { 'X-API-Key': key }));
  if (status !== 200) throw new Error(`GET ${path}: status ${status}`);
  const fields = [...head.matchAll(/^([\w-]+): (.*?)\r?$/gm)].map(([, name, value]) => [name!, value!] as const);
  return { body, fields: Object.fromEntries(fields.filter(([name]) => !OWN_FIELDS.has(name.toLowerCase()))) };
}

/** Header fields that belong to a single response. */
const OWN_FIELDS = new Set(['x-request-id', 'ratelimit-policy', 'ratelimit', 'date', 'content-length']);

export async function ask({ url }: Server, request: string | Uint8Array): Promise<WireAnswer> {
  const wire = await Wire.open(url);
  return wire.ask(request).finally(() => wire.cut());
}

export function same(what: string, value: string, expected: string): void {
  if (value !== expected) throw new Error(`${what} is ${value.slice(0, 300)}, not ${expected.slice(0, 300)}`);
}

/** Throws an error unless the columns agree within 1e-9, relative. */
export function sameColumn(name: string, values: ArrayLike<number>, expected: ArrayLike<number>): void {
  if (values?.length !== expected.length) throw new Error(`${name} has ${values?.length} rows`);
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs(values[i]! - expected[i]!);
    if (difference <= TOLERANCE * Math.abs(expected[i]!)) continue;
    throw new Error(`${name} is ${values[i]} in row ${i}, not ${expected[i]}`);
  }
}

/** Names of an answer's fields. */
export function fieldsOf(body: string): string {
  return Object.keys(JSON.parse(body)).join();
}

/** Relative. */
const TOLERANCE = 1e-9;
