import { version } from 'swagger-ui-dist/package.json';
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import { type BasePath, pageBelow } from './base-path.ts';
import { type HttpApp, JSON_TYPE, strictQuery } from './http-app.ts';
import { etagOf, type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

const SCRIPT = `/docs/swagger-ui-${version}.js`;
const STYLE = `/docs/swagger-ui-${version}.css`;
const START = '/docs/start.js';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Zomma</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${STYLE}">
    <script src="${SCRIPT}" defer></script>
    <script src="${START}" defer></script>
  </head>
  <body>
    <div id="docs"></div>
  </body>
</html>
`;

/** Starts Swagger UI: a file, as the Content-Security-Policy requires, without the validator, which is on another host. */
const startScript = (basePath: BasePath) =>
  `SwaggerUIBundle({ url: '${basePath}/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null, defaultModelRendering: 'model' });
`;

/** The Content-Security-Policy: only resources of this server, and data URLs for the icons in the package's style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const OPENAPI = '/openapi.json';

export const DOCS_PATHS: readonly string[] = ['/docs', START, SCRIPT, STYLE, OPENAPI];

/** Serves the OpenAPI document and its page, an embedded Swagger UI that needs no internet, each prepared at its first request. */
export const docsRoutes = (openapi: () => Promise<object>, basePath: BasePath) => (app: HttpApp) => {
  const prepare: Record<string, () => PreparedResponse | Promise<PreparedResponse>> = {
    '/docs': () => own(pageBelow(basePath, PAGE), { ...type('html'), 'Content-Security-Policy': POLICY }),
    [START]: () => own(startScript(basePath), type('javascript')),
    [SCRIPT]: () => packaged(scriptPath, type('javascript')),
    [STYLE]: () => packaged(stylePath, type('css')),
    [OPENAPI]: async () => own(JSON.stringify(await openapi()), { 'Content-Type': JSON_TYPE }),
  };
  for (const path of DOCS_PATHS) {
    let prepared: PreparedResponse | Promise<PreparedResponse> | undefined;
    app.get(path, async ({ request, set }) => {
      // Browsers and link trackers add parameters to the address of a page, but programs send parameters that they expect to be obeyed.
      if (path === OPENAPI) strictQuery(request.url);
      prepared ??= prepare[path]!();
      return sendPrepared(await prepared, request.headers, set);
    });
  }
  return app;
};

/** Prepares a response with a text that this service creates. A new version can change the text, so clients must revalidate the text. */
function own(text: string, headers: Record<string, string>): PreparedResponse {
  return prepareResponse(text, etagOf(text), { ...headers, 'Cache-Control': 'no-cache' });
}

/** Prepares a file of the Swagger UI package. Its address contains the package's version, so the file at an address never changes. */
function packaged(path: string, headers: Record<string, string>): PreparedResponse {
  const cacheControl = 'public, max-age=31536000, immutable';
  return prepareResponse(Bun.file(path), `"${version}"`, { ...headers, 'Cache-Control': cacheControl });
}

function type(kind: 'html' | 'javascript' | 'css') {
  return { 'Content-Type': `text/${kind};charset=utf-8` };
}
