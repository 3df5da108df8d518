import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

// biome-ignore lint/suspicious/noExplicitAny: tests take apart what they know the shape of
export type Json = any;

/** What the test provider does with a request, in place of its answer or with it. */
export type Behaviour =
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
  /** Sends the first half and closes the connection. With `announced` it announces the full length first. */
  | { readonly kind: 'cut'; readonly announced: boolean }
  /** Ends normally in the middle of the answer. */
  | { readonly kind: 'half' }
  /** Sends one byte now and then, forever. */
  | { readonly kind: 'drip' }
  | { readonly kind: 'hang' }
  /** An error page with status 200. */
  | { readonly kind: 'page' }
  /** 200 MB of an endless array. With `announced` it announces the length first. */
  | { readonly kind: 'huge'; readonly announced?: boolean }
  /** The answer, compressed. */
  | { readonly kind: 'zipped' }
  /** 200 MB that take about 200 kB on the network. */
  | { readonly kind: 'bomb' }
  | { readonly kind: 'changed'; readonly change: (answer: Json) => unknown };

/** Bytes of `huge` that were sent, over all requests. */
export const sent = { hugeBytes: 0 };

/** `encode` writes an answer in the provider's format. */
export function behave(
  behaviour: Behaviour,
  response: ServerResponse,
  answer: unknown,
  encode: (answer: unknown) => string,
): void {
  const body = Buffer.from(encode(answer));
  const json = { 'content-type': 'application/json' };
  switch (behaviour.kind) {
    case 'status':
      response
        .writeHead(behaviour.status, behaviour.headers)
        .end(JSON.stringify({ fault: { status: behaviour.status } }));
      break;
    case 'cut':
      response.writeHead(200, behaviour.announced ? { ...json, 'content-length': body.length } : json);
      response.write(body.subarray(0, body.length >> 1), () => setTimeout(() => response.socket?.destroy(), 5));
      break;
    case 'half':
      response.writeHead(200, json).end(body.subarray(0, body.length >> 1));
      break;
    case 'drip': {
      response.writeHead(200, json);
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
      break;
    }
    case 'hang':
      break;
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Be right back</title>');
      break;
    case 'huge':
      response.writeHead(200, behaviour.announced ? { ...json, 'content-length': 200 << 20 } : json);
      pour(response, 200);
      break;
    case 'zipped':
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(body));
      break;
    case 'bomb':
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(bomb());
      break;
    case 'changed':
      response.writeHead(200, json).end(encode(behaviour.change(structuredClone(answer))));
      break;
  }
}

/** Parts that are compressed separately make one stream. */
function bomb(): Buffer {
  return Buffer.concat(Array(50).fill(gzipSync(Buffer.alloc(4 << 20, '['))));
}

/** Writes this many MB, as fast as the other end takes them. */
function pour(response: ServerResponse, megabytes: number): void {
  const piece = Buffer.alloc(1 << 20, '[');
  let left = megabytes;
  const write = () => {
    while (left-- > 0 && !response.destroyed) {
      sent.hugeBytes += piece.length;
      if (!response.write(piece)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
}
