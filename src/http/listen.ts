import { readFileSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import type { ConnectionWatch } from './connections/connection-watch.ts';
import { LOOPBACK } from './origins.ts';
import type { Handler } from './server.ts';

export interface ListenSettings {
  readonly host: string;
  readonly port: string;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly behindProxy?: boolean | undefined;
}

/** Settings that were found good. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

export interface Listening {
  readonly url: string;
  /** Takes no new connections, finishes the requests in flight, and after the deadline cuts what is left. */
  stop(deadlineMs: number): Promise<void>;
}

/** Longer than the pause between two pings of a stream. */
const IDLE_TIMEOUT_S = 60;
/** Bodies are bounded where they are read; the runtime's own bound would answer without the error body. */
const RUNTIME_BODY_BYTES_MAX = 2 ** 31;

/** Checks settings before anything is started. Throws `OperatorError` for what an operator must mend. */
export function listenOptions({ host, port, tlsCert, tlsKey, behindProxy }: ListenSettings): ListenOptions {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new OperatorError(`"${port}" is not a port`, 'use 0 to 65535; 0 takes a free one');
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new OperatorError('--tls-cert and --tls-key go together', 'give both, or neither');
  }
  if (tlsCert !== undefined && tlsKey !== undefined) {
    return { host, port: Number(port), tls: { cert: read(tlsCert, '--tls-cert'), key: read(tlsKey, '--tls-key') } };
  }
  if (!behindProxy && !LOOPBACK.test(host)) {
    throw new OperatorError(
      `keys would cross the network in the clear on ${host}`,
      'give --tls-cert and --tls-key, or --behind-proxy where a proxy serves HTTPS in front',
    );
  }
  return { host, port: Number(port), tls: undefined };
}

/**
 * Serves the handler over HTTP, or HTTPS with HTTP/1.1 and HTTP/2, and has its connections watched, if anything is to watch them. Throws
 * `OperatorError` where the address or PEM is no good.
 */
export function listen(
  handle: Handler,
  { host, port, tls }: ListenOptions,
  connections?: Pick<ConnectionWatch, 'start' | 'stop'>,
): Listening {
  const server = serve(() =>
    Bun.serve({
      hostname: host,
      port,
      // Two servers on one port would each get some of the requests.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
      development: false,
      fetch: handle,
      ...(tls && { tls, http2: true }),
    }),
  );
  connections?.start(server);
  const shown = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls ? 'https' : 'http'}://${shown}:${server.port}`,
    async stop(deadlineMs) {
      connections?.stop();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([server.stop(), deadline]);
      clearTimeout(timer);
      await server.stop(true);
    },
  };
}

function serve<Server>(start: () => Server): Server {
  try {
    return start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new OperatorError(
      `cannot listen: ${message}`,
      code === 'EADDRINUSE'
        ? 'another program has the port; choose one with --port, or 0 for a free one'
        : 'check --host, --port and the TLS files',
      { cause: error },
    );
  }
}

function read(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError(`${flag}: cannot read ${file}`, 'give a PEM file that this user may read', {
      cause: error,
    });
  }
}
