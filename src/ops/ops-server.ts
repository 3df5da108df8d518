import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net';
import { OperatorError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';

interface OpsReports {
  /** Returns the reasons why the server should get no requests now, one sentence per reason. The list is empty if the server is ready. */
  readonly notReady: () => readonly string[];
  /** Returns the metrics in Prometheus text format, with the media type. */
  readonly metrics: () => Promise<{ readonly text: string; readonly type: string }>;
}

/** The address of `--ops`. */
export interface OpsAddress {
  readonly host: string;
  readonly port: number;
  /** The names of `--allowed-hosts`, in lower case. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** Maximum number of connections. Monitoring needs one or two. Each takes a descriptor that the members' address may need. */
const CONNECTIONS_MAX = 50;
/** Time without data after which a connection is closed, ms. */
const IDLE_MS = 10_000;
const HEAD_BYTES_MAX = 16_384;

/**
 * Serves liveness, readiness and metrics on a separate address, without keys. The address is for the operator's monitoring, and members and
 * the internet should not reach it. A connection beyond CONNECTIONS_MAX closes the oldest one, so that nobody locks the monitoring out.
 * Rejects with `OperatorError` if the address cannot be used.
 */
export async function serveOps({ host, port, allowedHosts }: OpsAddress, reports: OpsReports) {
  const answerTo = async ({ method, url = '/', headers }: IncomingMessage): Promise<Answer> => {
    if (!isOwnHost(headers.host, host, allowedHosts)) return plain(FOREIGN_HOST, 403);
    if (method !== 'GET' && method !== 'HEAD') return plain('only GET', 405);
    const path = url.split('?', 1)[0];
    if (path === '/live') return plain('live');
    if (path === '/ready') {
      const reasons = reports.notReady();
      return reasons.length === 0 ? plain('ready') : plain(reasons.join('\n'), 503);
    }
    if (path === '/metrics') return { status: 200, ...(await reports.metrics()) };
    return plain('paths: /live, /ready, /metrics', 404);
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, type, text } = await answerTo(request).catch(() => plain('internal error', 500));
    const fields = { ...FIELDS, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) };
    response.writeHead(status, fields).end(text);
  };
  const http = createHttpServer({ maxHeaderSize: HEAD_BYTES_MAX }, respond);
  http.on('clientError', (_error, socket) => socket.destroy());
  const open = new Set<Socket>();
  const close = (socket: Socket) => {
    open.delete(socket);
    socket.destroy();
  };
  // The server of `node:http` does not report connections without a request, so this server accepts the connections itself.
  const server = createServer((socket) => {
    open.add(socket);
    if (open.size > CONNECTIONS_MAX) close(open.values().next().value!);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.setTimeout(IDLE_MS, () => close(socket));
    http.emit('connection', socket);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.on('error', reject).listen(port, host, resolve);
  await promise.catch((error: Error) => {
    throw new OperatorError(
      `cannot listen on the operations address ${host}:${port}: ${error.message}`,
      'Choose another address with --ops, e.g. --ops 127.0.0.1:9464.',
      { cause: error },
    );
  });
  const displayHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${displayHost}:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      for (const socket of open) close(socket);
    },
  };
}

export const OPEN_OPS_HINT =
  'Whoever reaches the operations address reads the metrics without a key. Let a firewall admit the monitoring only.';

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function plain(text: string, status = 200): Answer {
  return { status, type: 'text/plain;charset=utf-8', text: `${text}\n` };
}

const FOREIGN_HOST =
  'The Host header is not a name of this address. Use the address of --ops, an IP address, or a name of --allowed-hosts.';

/**
 * Returns whether a Host header names this address. If a browser sends another name to a loopback address, the page in the browser uses DNS
 * rebinding. Rebinding needs a name, so every IP address is accepted. On other addresses than loopback, every name is accepted if no hosts
 * are configured. A request in HTTP/1.0 may have no Host.
 */
function isOwnHost(field: string | undefined, own: string, allowedHosts: readonly string[] | undefined): boolean {
  const name = (field ?? '').toLowerCase().replace(/:\d*$/, '');
  if (name === '' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || name === own.toLowerCase()) return true;
  if (name === 'localhost' || allowedHosts?.includes(name)) return true;
  return !isLoopback(own) && allowedHosts === undefined;
}

const FIELDS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
