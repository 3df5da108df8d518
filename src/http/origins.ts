import { ClientError } from '../core/errors.ts';
import { isLoopback } from '../core/loopback.ts';
import type { SettingValues } from '../settings/config.ts';
import { type BeforeRouting, fieldsOf, type HttpApp, respond } from './http-app.ts';

/**
 * Protects the server against web pages that, by DNS rebinding or cross-site requests, send requests through a browser on this machine or
 * network. The server checks Origin and Host on every path.
 */
export interface OriginPolicy {
  /** The names allowed in the Host header, in lower case, without ports. Undefined if a proxy or a certificate restricts the names. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** The origins whose pages may send requests, such as `https://agents.example.com`. Pages of this server may always send requests. */
  readonly origins: ReadonlySet<string>;
}

export type OriginSettings = Pick<SettingValues, 'host' | 'behindProxy' | 'allowedHosts' | 'allowedOrigins'>;

/**
 * Returns the policy for the settings. On a loopback address without a proxy, the server accepts the loopback names, the value of `--host`
 * and the allowed hosts. If a browser sends another name to a loopback address, the page in the browser uses DNS rebinding. Behind a proxy
 * or on other addresses, the server accepts the allowed hosts, or any name if no hosts are configured.
 */
export function originPolicy({ host, behindProxy, allowedHosts, allowedOrigins }: OriginSettings): OriginPolicy {
  const isLocal = isLoopback(host) && !behindProxy;
  const hosts = [...(isLocal ? [...LOOPBACK_NAMES, host.toLowerCase()] : []), ...(allowedHosts ?? [])];
  return { hosts: hosts.length > 0 ? new Set(hosts) : undefined, origins: new Set(allowedOrigins) };
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

const PREFLIGHT_FIELDS = fieldsOf({});
/** The paths of probes. They accept every Host, because probes send an address, and reveal only whether the service runs and is ready. */
export const PROBE_PATHS: readonly string[] = ['/health', '/ready'];

/**
 * Rejects a Host header with several hosts, or with a name that does not belong to this server. The runtime joins two Host headers with a
 * comma. The header must not contain characters with which the router would find the wrong start of the path.
 */
export const checkHost = (policy: OriginPolicy) => (app: HttpApp) => {
  /** Host headers that have passed the check. Clients send the same Host header with each request. */
  const accepted = new Set<string>();
  return app.onRequest((context) => {
    const { request, path } = context as typeof context & BeforeRouting;
    const host = request.headers.get('host') ?? '';
    if (accepted.has(host)) return;
    if (!ONE_HOST.test(host)) {
      throw new ClientError('invalid_parameter', 'The Host header is not a single host', {
        hint: 'Send one Host header.',
      });
    }
    if (PROBE_PATHS.includes(path)) return;
    refuseForeignHost(host, policy);
    if (accepted.size < ACCEPTED_HOSTS_MAX) accepted.add(host);
  });
};

const ONE_HOST = /^[A-Za-z0-9._:[\]-]*$/;
const ACCEPTED_HOSTS_MAX = 64;

/** Rejects requests of pages from foreign origins, and answers CORS preflight requests of pages from allowed origins. */
export const checkOrigin = (policy: OriginPolicy) => (app: HttpApp) =>
  app.onRequest(({ request, set }) => {
    // Programs that are not browsers send no Origin.
    if (!request.headers.has('origin')) return;
    refuseForeignOrigin(request.headers, policy);
    const corsHeaders = crossOriginHeaders(request.headers, policy);
    if (!corsHeaders) return;
    Object.assign(set.headers, corsHeaders);
    // Before the request of a page, a browser sends a preflight request without the page's key.
    if (request.method === 'OPTIONS') return respond(set, null, PREFLIGHT_FIELDS, 204);
  });

/** Throws `ClientError` (403) if the host is not a name of this server. A request in HTTP/1.0 may have no Host. */
export function refuseForeignHost(host: string, { hosts }: OriginPolicy): void {
  if (!hosts || host === '' || hosts.has(nameOf(host))) return;
  throw new ClientError('host_foreign', 'The Host header is not a name of this server', {
    hint: 'Ask the operator to allow the Host with --allowed-hosts.',
  });
}

/** Throws `ClientError` (403) if the request comes from a page of a foreign origin. Programs that are not browsers send no Origin. */
export function refuseForeignOrigin(headers: Headers, { origins }: OriginPolicy): void {
  const origin = headers.get('origin');
  if (origin === null || origins.has(origin.toLowerCase()) || isSameHost(origin, headers.get('host'))) return;
  throw new ClientError('origin_foreign', 'Pages of this origin may not send requests to this server', {
    hint: 'Ask the operator to allow the Origin with --allowed-origins.',
  });
}

/** Returns the header fields that let a page of an allowed origin read the answers, or undefined for other origins, also of this server. */
export function crossOriginHeaders(headers: Headers, { origins }: OriginPolicy): Record<string, string> | undefined {
  const origin = headers.get('origin');
  if (origin === null || !origins.has(origin.toLowerCase())) return undefined;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': REQUEST_HEADERS.join(', '),
    'Access-Control-Expose-Headers': EXPOSED_HEADERS.join(', '),
    'Access-Control-Max-Age': '86400',
    // This field replaces the Vary field of compressed answers, so it must also contain theirs.
    Vary: 'Origin, Accept, Accept-Encoding',
  };
}

const REQUEST_HEADERS = [
  'Content-Type',
  'X-API-Key',
  'Authorization',
  'Mcp-Session-Id',
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-ID',
  'If-None-Match',
];

const EXPOSED_HEADERS = [
  ...['Mcp-Session-Id', 'Retry-After', 'X-Request-Id', 'ETag', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate'],
  ...['X-Data-Source', 'X-Data-Simulated', 'X-Data-As-Of', 'X-Data-Age', 'X-Data-Stale', 'X-Data-Notes'],
];

/** Returns the host of a Host field in lower case, without the port. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** Returns whether the page comes from this server or from the server's proxy. All loopback names count as the same name. */
function isSameHost(origin: string, host: string | null): boolean {
  const [server, page] = [URL.parse(`http://${host ?? ''}`), URL.parse(origin)];
  if (!server || !page) return false;
  const isLocal = [server, page].every(({ hostname }) => LOOPBACK_NAMES.includes(hostname));
  return server.host === page.host || (isLocal && server.port === page.port);
}
