import { files, page } from '../../build/web/manifest.js';
import type { HttpApp } from './http-app.ts';
import { type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

/**
 * The Content-Security-Policy of the terminal. It allows only resources of this server, and no inline script or style. `wasm-unsafe-eval`
 * lets the page compile the numeric kernels for its benchmark. Trusted Types forbid every use of a string as HTML or script.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
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
  wasm: 'application/wasm',
  json: 'application/json;charset=utf-8',
};

const pathOf = (name: string) => `/web/${name}`;

/** The paths of the terminal: the page and its files. All are public. */
export const WEB_PATHS: readonly string[] = ['/', ...files.map(({ name }) => pathOf(name))];

/**
 * Serves the web terminal from the binary. The page must be revalidated on each use. The name of every other file contains a hash of its
 * content, so clients may cache these files without revalidation.
 */
export const webRoutes = (app: HttpApp) => {
  const hash = new Bun.CryptoHasher('sha256').update(page).digest('base64url');
  const prepared = prepareResponse(page, `"${hash}"`, PAGE_FIELDS);
  app.get('/', ({ request, set }) => sendPrepared(prepared, request.headers, set));
  for (const file of files) {
    let loaded: Promise<PreparedResponse> | undefined;
    app.get(pathOf(file.name), async ({ request, set }) => {
      loaded ??= loadFile(file);
      return sendPrepared(await loaded, request.headers, set);
    });
  }
  return app;
};

/** Reads the compressed forms of a file, which the build has made, so that the server does not compress it. */
async function loadFile({ name, plain, brotli, gzip }: (typeof files)[number]): Promise<PreparedResponse> {
  const prepared = prepareResponse(Bun.file(plain), `"${name}"`, {
    'Content-Type': TYPES[name.slice(name.lastIndexOf('.') + 1)]!,
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  prepared.compressed.set('br', await Bun.file(brotli).bytes());
  prepared.compressed.set('gzip', await Bun.file(gzip).bytes());
  return prepared;
}
