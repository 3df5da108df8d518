import { version } from 'swagger-ui-dist/package.json';
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import { type HttpApp, JSON_TYPE } from './http-app.ts';
import { type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

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

/** A file of its own: the policy allows no script within the page. The validator would be another host's. */
const START_SCRIPT = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, validatorUrl: null, defaultModelRendering: 'model' });
`;

/** Only what is served here, whatever the package's script would ask for; its icons are data within its style. */
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

/** Public, as the document is. */
export const DOCS_PATHS: readonly string[] = ['/docs', START, SCRIPT, STYLE, OPENAPI];

/**
 * The OpenAPI document, and as a page for people: Swagger UI, embedded, so that it works without internet. Each is prepared when it
 * is first asked for.
 */
export const docsRoutes = (openapi: () => Record<string, unknown>) => (app: HttpApp) => {
  const prepare: Record<string, () => PreparedResponse> = {
    '/docs': () => own(PAGE, { ...type('html'), 'Content-Security-Policy': POLICY }),
    [START]: () => own(START_SCRIPT, type('javascript')),
    [SCRIPT]: () => packaged(scriptPath, type('javascript')),
    [STYLE]: () => packaged(stylePath, type('css')),
    [OPENAPI]: () => own(JSON.stringify(openapi()), { 'Content-Type': JSON_TYPE }),
  };
  for (const path of DOCS_PATHS) {
    let prepared: PreparedResponse | undefined;
    app.get(path, async ({ request, set }) => {
      prepared ??= prepare[path]!();
      return sendPrepared(prepared, request.headers, set);
    });
  }
  return app;
};

/** Ours: changes with the service. */
function own(text: string, headers: Record<string, string>): PreparedResponse {
  const etag = `"${new Bun.CryptoHasher('sha256').update(text).digest('base64url')}"`;
  return prepareResponse(text, etag, { ...headers, 'Cache-Control': 'no-cache' });
}

/** The package's: its address names the version, so that what is there never changes. */
function packaged(path: string, headers: Record<string, string>): PreparedResponse {
  const cacheControl = 'public, max-age=31536000, immutable';
  return prepareResponse(Bun.file(path), `"${version}"`, { ...headers, 'Cache-Control': cacheControl });
}

function type(kind: 'html' | 'javascript' | 'css') {
  return { 'Content-Type': `text/${kind};charset=utf-8` };
}
