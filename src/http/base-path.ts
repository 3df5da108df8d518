/** The path of the service at its proxy, such as `/zomma`, or ''. Only addresses in answers have it: routes, hooks and the log do not. */
export type BasePath = string;

/**
 * Removes the base path from the URL of a request, for routes and hooks. A request without it, of this machine or of a proxy that has
 * removed it, stays unchanged. Returns the request itself and not a copy, because the runtime finds the client's address with this object.
 */
export function withoutBasePath(request: Request, base: BasePath): Request {
  const { url } = request;
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3);
  if (start < 0 || !url.startsWith(base, start)) return request;
  const rest = url.slice(start + base.length);
  if (!/^(?:[/?]|$)/.test(rest)) return request;
  const below = `${url.slice(0, start)}${rest.startsWith('/') ? '' : '/'}${rest}`;
  return Object.defineProperty(request, 'url', { value: below });
}

/** Puts the base path before each path in a sentence for clients, such as `See GET /zomma/docs`. */
export function hintBelow(base: BasePath, sentence: string): string {
  return base === '' ? sentence : sentence.replace(/\b(GET|POST|DELETE) \//g, `$1 ${base}/`);
}

/** Returns an HTML page in which the addresses of links, scripts and styles begin with the base path. */
export function pageBelow(base: BasePath, html: string): string {
  return html.replace(/ (href|src)="\//g, ` $1="${base}/`);
}

/**
 * Returns the script of the terminal for a base path: it calls `fetch`, links to the documents and shows the address of the server below
 * the path. The built script is changed here, because support in its source would make it larger for all servers.
 */
export function scriptBelow(base: BasePath, script: string): string {
  const own = JSON.stringify(base);
  // This `fetch` replaces the browser's `fetch` only in this script, because the script is a module.
  const fetchBelow = `const fetch=(path,init)=>globalThis.fetch(path[0]==="/"?${own}+path:path,init);`;
  return (
    fetchBelow +
    script
      .replaceAll('location.origin', `(location.origin+${own})`)
      .replace(/"(\/docs|\/openapi\.json)"/g, (_, path) => JSON.stringify(base + path))
  );
}
