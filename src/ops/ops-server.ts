import { OperatorError } from '../core/errors.ts';

/** The reports that the operations address serves. */
export interface OpsReports {
  /** Returns the reasons why the server should get no requests now, one sentence per reason. The list is empty if the server is ready. */
  readonly notReady: () => readonly string[];
  /** Returns the metrics in Prometheus text format, with the media type. */
  readonly metrics: () => Promise<{ readonly text: string; readonly type: string }>;
}

/** The address of `--ops`. */
export interface OpsAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves liveness, readiness and metrics on a separate address, without keys. The address is for the operator's monitoring, and members and
 * the internet should not reach it. Throws `OperatorError` if the address cannot be used.
 */
export function serveOps({ host, port }: OpsAddress, reports: OpsReports) {
  const plain = (text: string, status = 200) => new Response(`${text}\n`, { status, headers: FIELDS });
  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (request.method !== 'GET' && request.method !== 'HEAD') return plain('only GET', 405);
    if (pathname === '/live') return plain('live');
    if (pathname === '/ready') {
      const reasons = reports.notReady();
      return reasons.length === 0 ? plain('ready') : plain(reasons.join('\n'), 503);
    }
    if (pathname === '/metrics') {
      const { text, type } = await reports.metrics();
      return new Response(text, { headers: { ...FIELDS, 'Content-Type': type } });
    }
    return plain('paths: /live, /ready, /metrics', 404);
  };
  try {
    const server = Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch });
    const displayHost = host.includes(':') ? `[${host}]` : host;
    return {
      url: `http://${displayHost}:${server.port}`,
      stop: () => server.stop(true),
    };
  } catch (error) {
    throw new OperatorError(
      `cannot listen on the operations address ${host}:${port}: ${(error as Error).message}`,
      'Choose another address with --ops, e.g. --ops 127.0.0.1:9464.',
      { cause: error },
    );
  }
}

const FIELDS = {
  'Content-Type': 'text/plain;charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};
