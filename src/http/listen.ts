import { OperatorError, SettingError, SettingFaults } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import { withinMs } from '../core/within-ms.ts';
import type { SettingValues } from '../settings/config.ts';
import type { ConnectionMonitor, ConnectionServer } from './connections/connection-monitor.ts';
import { createPortSteering } from './connections/port-steering.ts';
import type { Handler } from './http-server.ts';
import { CIPHERS, type PemPair, readTls, type TlsFiles, type TlsPair } from './tls.ts';

export type ListenSettings = Pick<
  SettingValues,
  'host' | 'port' | 'tls' | 'tlsCert' | 'tlsKey' | 'tlsClientCa' | 'behindProxy'
>;

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: PemPair | undefined;
}

export type Listening = ReturnType<typeof listen>;

/** Time without data after which the runtime closes a connection, s. Streams send pings at shorter intervals. */
const IDLE_TIMEOUT_S = 60;
/**
 * Maximum number of listeners with an old certificate. When a listener stops, it closes its idle connections, and may lose a request that
 * arrives at the same time. A listener takes a descriptor and about 100 KB, so all listeners replaced in a year can stay open.
 */
const REPLACED_OPEN_MAX = 32;
/** The runtime's own limit on a body, bytes. It never applies, because the runtime would reject a body without problem details. */
const RUNTIME_BODY_BYTES_MAX = 2 ** 31;

/** Returns the TLS files of the settings, or undefined for plain HTTP or `--tls internal`. Adds contradictions to `faults`. */
function tlsFilesOf(settings: ListenSettings, faults: SettingError[]): TlsFiles | undefined {
  const { host, tls, tlsCert, tlsKey, tlsClientCa, behindProxy } = settings;
  const fault = (message: string, hint: string) => void faults.push(new SettingError(message, hint));
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    fault('--tls-cert and --tls-key must be given together', 'Give both flags, or neither.');
  if (tls !== undefined && tlsCert !== undefined)
    fault('--tls internal and --tls-cert exclude each other', 'Give one of them.');
  const hasTls = tls !== undefined || tlsCert !== undefined || tlsKey !== undefined;
  if (tlsClientCa !== undefined && !hasTls) {
    fault(
      '--tls-client-ca needs --tls-cert and --tls-key, or --tls internal',
      'Clients send certificates over TLS only. If a proxy serves HTTPS, let the proxy check them.',
    );
  }
  if (!hasTls && !behindProxy && !isLoopback(host)) {
    fault(
      `API keys would cross the network in the clear, because ${host} is not a loopback address`,
      'Give --tls-cert and --tls-key, --tls internal, or --behind-proxy if a proxy in front serves HTTPS.',
    );
  }
  return tls === undefined && tlsCert !== undefined && tlsKey !== undefined
    ? { cert: tlsCert, key: tlsKey, clientCa: tlsClientCa }
    : undefined;
}

/**
 * Validates the settings before the server starts, without the files of `--tls internal`, which the server itself creates. Throws
 * `SettingError`, or `SettingFaults` for several, if a setting is invalid or a TLS file cannot be used.
 */
export function listenOptions(settings: ListenSettings): ListenOptions & { readonly tls: TlsPair | undefined } {
  const faults: SettingError[] = [];
  const files = tlsFilesOf(settings, faults);
  if (faults.length > 1) throw new SettingFaults(faults);
  if (faults.length === 1) throw faults[0];
  const { host, port } = settings;
  return { host, port, tls: files && readTls(files) };
}

/**
 * Serves the handler over HTTP, or over HTTPS with HTTP/1.1 and HTTP/2. Starts the given connection monitor. Throws `OperatorError` if the
 * address is invalid or in use, or if a PEM text is invalid.
 */
export function listen(
  handle: Handler,
  { host, port, tls }: ListenOptions,
  connections?: Pick<ConnectionMonitor, 'start' | 'stop'>,
) {
  const serveOn = (at: number, pair: PemPair | undefined, reusePort: boolean) =>
    serve(() =>
      Bun.serve({
        hostname: host,
        port: at,
        reusePort,
        idleTimeout: IDLE_TIMEOUT_S,
        maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
        development: false,
        fetch: handle,
        ...(pair && { tls: tlsOptionsOf(pair), http2: true }),
      }),
    );
  // With `reusePort`, two programs could listen on one port, and each program would get a share of the requests. The server needs
  // `reusePort`, because it opens a second listener on the port to replace a certificate. To find out whether another program uses the
  // port, the server first binds the port without `reusePort`.
  let server = serveOn(port, tls, false);
  if (tls) {
    const { port: bound } = server;
    void server.stop(true);
    server = serveOn(bound!, tls, true);
  }
  /** Listeners with a replaced certificate, the oldest first. Such a listener serves only its open connections. */
  const replaced: (typeof server)[] = [];
  let stoppedCount = 0;
  const steering = tls && createPortSteering(server.port!);
  steering?.add();
  const all: ConnectionServer = {
    port: server.port,
    requestIP: (request) => server.requestIP(request),
    closeIdleConnections: () => [server, ...replaced].reduce((count, each) => count + each.closeIdleConnections(), 0),
  };
  connections?.start(all);
  const displayHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `${tls ? 'https' : 'http'}://${displayHost}:${server.port}`,
    /** Uses another certificate for new connections only. If the runtime rejects it, throws `OperatorError` and keeps the present one. */
    replaceTls(pair: PemPair) {
      const next = serveOn(server.port!, pair, true);
      replaced.push(server);
      server = next;
      const isSteered = steering?.add() ?? false;
      // Without steering, older listeners would also get new connections.
      while (replaced.length - stoppedCount > (isSteered ? REPLACED_OPEN_MAX : 0)) {
        // If the argument of `stop` is not true, requests in progress and streams continue.
        void replaced[stoppedCount++]!.stop();
        steering?.removeOldest();
      }
    },
    /** Accepts no new connections, and completes the requests in progress. After the deadline, closes the remaining connections. */
    async stop(deadlineMs: number) {
      connections?.stop();
      const servers = [server, ...replaced];
      await withinMs(deadlineMs, Promise.all(servers.map((each) => each.stop())));
      await Promise.all(servers.map((each) => each.stop(true)));
    },
  };
}

/** Returns the TLS options of the runtime. If `clientCa` is given, clients need a certificate from these authorities. */
function tlsOptionsOf({ cert, key, clientCa }: PemPair): Bun.TLSOptions {
  return {
    ...{ cert, key, ciphers: CIPHERS },
    ...(clientCa !== undefined && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
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
