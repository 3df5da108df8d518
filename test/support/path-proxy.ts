/** A proxy that serves another server below a path, as nginx and Caddy do. */
export interface PathProxy {
  /** The address of the path, e.g. `http://127.0.0.1:1234/zomma`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a proxy on loopback for `path`. With `strips`, it removes the path before it passes a request on. Other paths get 404. */
export function startPathProxy(target: string, path: string, strips: boolean): PathProxy {
  const { origin } = new URL(target);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search, host } = new URL(request.url);
      if (pathname !== path && !pathname.startsWith(`${path}/`))
        return new Response('not of the proxy', { status: 404 });
      const passed = strips ? pathname.slice(path.length) || '/' : pathname;
      const headers = new Headers(request.headers);
      headers.set('Host', host);
      headers.set('X-Forwarded-For', '203.0.113.9');
      const {
        status,
        headers: fields,
        body,
      } = await fetch(`${origin}${passed}${search}`, {
        method: request.method,
        headers,
        body: request.body,
        redirect: 'manual',
        decompress: false,
        signal: request.signal,
      });
      return new Response(body, { status, headers: fields });
    },
  });
  return { url: `http://127.0.0.1:${server.port}${path}`, stop: () => server.stop(true) };
}
