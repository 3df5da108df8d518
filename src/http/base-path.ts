/**
 * The path prefix of the service at its proxy, such as `/zomma`, or the empty text. Routes, hooks and the log use paths without this
 * prefix. Only addresses in the service's answers contain the prefix.
 */
export type BasePath = string;

/**
 * Removes the base path from the URL of a request, so that routes and hooks see the path without the base path. A request without the base
 * path stays unchanged. A request without the base path comes from this machine, or from a proxy that has removed the base path. The
 * function returns the request object itself and not a copy, because the runtime finds the client's address with this object.
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
 * Returns the script of the terminal for a base path. The script calls `fetch` with paths of this server, links to the documents, and shows
 * the address of the server. This function changes the built script. If the source of the script supported base paths, the script would be
 * larger for all servers, but few servers have a base path.
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
