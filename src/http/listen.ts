import { readFileSync } from 'node:fs';
import type { SettingValues } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { isLoopback } from '../loopback.ts';
import type { ConnectionMonitor } from './connections/connection-monitor.ts';
import type { Handler } from './http-server.ts';

export type ListenSettings = Pick<SettingValues, 'host' | 'port' | 'tlsCert' | 'tlsKey' | 'behindProxy'>;

/** The address to listen on, with the contents of the TLS files. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** PEM texts. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

export interface Listening {
  readonly url: string;
  /** Accepts no new connections, and completes the requests in progress. Closes the remaining connections after the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

/** The runtime closes a connection without data after this time, s. The time is longer than the time between two pings of a stream. */
const IDLE_TIMEOUT_S = 60;
/**
 * The runtime's own limit on the size of a body, bytes. It is so large that it never applies, because the runtime would reject a body
 * without problem details.
 */
const RUNTIME_BODY_BYTES_MAX = 2 ** 31;

/** Validates the settings before anything is started. Throws `OperatorError` if a setting is invalid or a TLS file cannot be read. */
export function listenOptions({ host, port, tlsCert, tlsKey, behindProxy }: ListenSettings): ListenOptions {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new OperatorError('--tls-cert and --tls-key must be given together', 'Give both flags, or neither.');
  }
  if (tlsCert !== undefined && tlsKey !== undefined) {
    return { host, port, tls: { cert: read(tlsCert, '--tls-cert'), key: read(tlsKey, '--tls-key') } };
  }
  if (!behindProxy && !isLoopback(host)) {
    throw new OperatorError(
      `API keys would cross the network in the clear, because ${host} is not a loopback address`,
      'Give --tls-cert and --tls-key, or --behind-proxy if a proxy in front serves HTTPS.',
    );
  }
  return { host, port, tls: undefined };
}

/**
 * Serves the handler over HTTP, or over HTTPS with HTTP/1.1 and HTTP/2. Starts the connection monitor, if one is given. Throws
 * `OperatorError` if the server cannot listen, because the address is invalid or in use, or because a PEM text is invalid.
 */
export function listen(
  handle: Handler,
  { host, port, tls }: ListenOptions,
  connections?: Pick<ConnectionMonitor, 'start' | 'stop'>,
): Listening {
  const server = serve(() =>
    Bun.serve({
      hostname: host,
      port,
      // With `reusePort: true`, two servers could listen on one port, and each would get some of the requests.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_S,
      maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
      development: false,
      fetch: handle,
      ...(tls && { tls, http2: true }),
    }),
  );
  connections?.start(server);
  const displayHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls ? 'https' : 'http'}://${displayHost}:${server.port}`,
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
        ? 'Another program uses the port. Choose another port with --port, or --port 0 for a free port.'
        : 'Check --host, --port and the TLS files.',
      { cause: error },
    );
  }
}

function read(file: string, flag: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError(`${flag}: cannot read ${file}`, 'Give a PEM file that this user may read.', {
      cause: error,
    });
  }
}
