import { files, page } from '../../build/web/manifest.js';
import { type BasePath, pageBelow, scriptBelow } from './base-path.ts';
import type { HttpApp } from './http-app.ts';
import { etagOf, type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

/** The Content-Security-Policy of the terminal: resources of this server, no inline script or style, no strings as HTML or script. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const PAGE_FIELDS = {
  'Content-Type': 'text/html;charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': PAGE_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript;charset=utf-8',
  css: 'text/css;charset=utf-8',
  json: 'application/json;charset=utf-8',
};

const pathOf = (name: string) => `/web/${name}`;

export const WEB_PATHS: readonly string[] = ['/', ...files.map(({ name }) => pathOf(name))];

/** Serves the web terminal. Clients revalidate the page, and cache the files, whose names contain a hash of their content. */
export const webRoutes = (basePath: BasePath) => (app: HttpApp) => {
  const ownPage = pageBelow(basePath, page);
  const prepared = prepareResponse(ownPage, etagOf(ownPage), PAGE_FIELDS);
  app.get('/', ({ request, set }) => sendPrepared(prepared, request.headers, set));
  for (const file of files) {
    let loaded: Promise<PreparedResponse> | undefined;
    app.get(pathOf(file.name), async ({ request, set }) => {
      loaded ??= loadFile(file, basePath);
      return sendPrepared(await loaded, request.headers, set);
    });
  }
  return app;
};

/** Reads the compressed forms of a file from the build. With a base path, the script is changed, and compressed on its first use. */
async function loadFile(
  { name, plain, brotli, gzip }: (typeof files)[number],
  base: BasePath,
): Promise<PreparedResponse> {
  const isChanged = base !== '' && name.endsWith('.js');
  const content = isChanged ? scriptBelow(base, await Bun.file(plain).text()) : Bun.file(plain);
  // Clients must revalidate a changed script, because its text depends on the base path but its address does not.
  const cacheControl = isChanged ? 'no-cache' : 'public, max-age=31536000, immutable';
  const prepared = prepareResponse(content, `"${name}${isChanged ? base : ''}"`, {
    'Content-Type': TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
    'Cache-Control': cacheControl,
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  if (isChanged) return prepared;
  prepared.compressed.set('br', await Bun.file(brotli).bytes());
  prepared.compressed.set('gzip', await Bun.file(gzip).bytes());
  return prepared;
}
