import { Failure, OperatorError } from '../errors.ts';
import { type BeforeRouting, fieldsOf, type HttpApp, respond } from './http-app.ts';

/**
 * Against pages in a browser of this machine or network that would talk to the server in its user's place (DNS rebinding, cross-site
 * requests): every path looks at Origin and Host.
 */
export interface OriginPolicy {
  /** Names by which the server may be asked, without ports, in lower case; undefined: any, as a proxy or a certificate sees to it. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Origins of pages that may ask besides those that are served under the same name, e.g. `https://agents.example.com`. */
  readonly origins: ReadonlySet<string>;
}

export interface OriginSettings {
  readonly host: string;
  readonly behindProxy?: boolean | undefined;
  readonly allowedHosts?: string | undefined;
  readonly allowedOrigins?: string | undefined;
}

/**
 * On an address of this machine alone the server goes by that machine's own names, unless a proxy in front passes on others: whatever else
 * a browser calls it, it was made to. On other addresses its names are the operator's to say. Throws `OperatorError` for what is no name.
 */
export function originPolicy({ host, behindProxy, allowedHosts, allowedOrigins }: OriginSettings): OriginPolicy {
  const allowed = listOf(allowedHosts);
  const wrong = allowed.find((name) => nameOf(name) !== name || /[/*]/.test(name));
  if (wrong !== undefined) {
    throw new OperatorError(
      `"${wrong}" is not the name of a host`,
      'e.g. --allowed-hosts zomma.example.com, without a port',
    );
  }
  const pages = listOf(allowedOrigins);
  const strange = pages.find((page) => URL.parse(page)?.origin !== page);
  if (strange !== undefined) {
    throw new OperatorError(
      `"${strange}" is not an origin`,
      'e.g. --allowed-origins https://agents.example.com: scheme, name and port, nothing after them',
    );
  }
  const isLocal = LOOPBACK.test(host) && !behindProxy;
  const hosts = isLocal ? [...LOOPBACK_NAMES, host.toLowerCase(), ...allowed] : allowed;
  return { hosts: hosts.length > 0 ? new Set(hosts) : undefined, origins: new Set(pages) };
}

/** All of 127.0.0.0/8 stays on the machine. */
export const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/;
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
}

const PREFLIGHT_FIELDS = fieldsOf({});
/** Probes of a load balancer ask by address, and hear no more than that the service is there. */
const PROBE_PATH = '/health';

/**
 * Refuses a Host header that is not one host (two headers arrive joined by a comma; other characters could move the start of the path), and a
 * name that is not this server's.
 */
export const checkHost = (policy: OriginPolicy) => (app: HttpApp) => {
  /** Host headers that were found good: clients send the same one with each request. */
  const good = new Set<string>();
  return app.onRequest((context) => {
    const { request, path } = context as typeof context & BeforeRouting;
    const host = request.headers.get('host') ?? '';
    if (good.has(host)) return;
    if (!ONE_HOST.test(host)) {
      throw new Failure('invalid_parameter', 'The Host header is not one host', { hint: 'Send one Host header.' });
    }
    if (path === PROBE_PATH) return;
    refuseForeignHost(host, policy);
    if (good.size < GOOD_HOSTS_MAX) good.add(host);
  });
};

const ONE_HOST = /^[A-Za-z0-9._:[\]-]*$/;
const GOOD_HOSTS_MAX = 64;

/** Refuses pages of foreign origins, and answers CORS preflight requests of pages whose origin is allowed. */
export const checkOrigin = (policy: OriginPolicy) => (app: HttpApp) =>
  app.onRequest(({ request, set }) => {
    // Programs send none.
    if (!request.headers.has('origin')) return;
    refuseForeignOrigin(request.headers, policy);
    const shared = crossOriginHeaders(request.headers, policy);
    if (!shared) return;
    Object.assign(set.headers, shared);
    // A browser asks before its page does, and without the page's key.
    if (request.method === 'OPTIONS') return respond(set, null, PREFLIGHT_FIELDS, 204);
  });

/** Throws `Failure`, 403, for a name that is not this server's. HTTP/1.0 needs none. */
export function refuseForeignHost(host: string, { hosts }: OriginPolicy): void {
  if (!hosts || host === '' || hosts.has(nameOf(host))) return;
  throw new Failure('host_foreign', 'This server is not asked under that name', {
    hint: 'The operator can allow the Host with --allowed-hosts.',
  });
}

/** Throws `Failure`, 403, for a page of another origin. Programs send no Origin. */
export function refuseForeignOrigin(headers: Headers, { origins }: OriginPolicy): void {
  const origin = headers.get('origin');
  if (origin === null || origins.has(origin.toLowerCase()) || isSameHost(origin, headers.get('host'))) return;
  throw new Failure('origin_foreign', 'Pages of this origin may not ask this server', {
    hint: 'The operator can allow the Origin with --allowed-origins.',
  });
}

/**
 * What lets a browser's page of an origin that the operator allows read the answers; undefined for any other. A page of this server needs
 * none of it.
 */
export function crossOriginHeaders(headers: Headers, { origins }: OriginPolicy): Record<string, string> | undefined {
  const origin = headers.get('origin');
  if (origin === null || !origins.has(origin.toLowerCase())) return undefined;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers': ASKED_WITH.join(', '),
    'Access-Control-Expose-Headers': SHOWN_TO_PAGES.join(', '),
    'Access-Control-Max-Age': '86400',
    // It takes the place of the field that says so of compressed answers.
    Vary: 'Origin, Accept-Encoding',
  };
}

const ASKED_WITH = [
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

const SHOWN_TO_PAGES = [
  ...['Mcp-Session-Id', 'Retry-After', 'X-Request-Id', 'ETag', 'RateLimit', 'RateLimit-Policy', 'WWW-Authenticate'],
  ...['X-Data-Source', 'X-Data-Simulated', 'X-Data-As-Of', 'X-Data-Age', 'X-Data-Stale', 'X-Data-Notes'],
];

/** A Host field without its port, in lower case. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '');
}

/** A page that this server, or the proxy in front of it, has served itself; by whichever of this machine's own names. */
function isSameHost(origin: string, host: string | null): boolean {
  const [asked, page] = [URL.parse(`http://${host ?? ''}`), URL.parse(origin)];
  if (!asked || !page) return false;
  const isLocal = [asked, page].every(({ hostname }) => LOOPBACK_NAMES.includes(hostname));
  return asked.host === page.host || (isLocal && asked.port === page.port);
}
