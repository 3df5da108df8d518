import { version } from 'swagger-ui-dist/package.json';
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import type { Tagged } from './conditional.ts';

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

/**
 * The OpenAPI document as a page for people, by address: Swagger UI, embedded, so that it works without internet. Public, as
 * the document is.
 */
export const DOCS_FILES: Readonly<Record<string, Tagged>> = {
  '/docs': own(PAGE, { ...type('html'), 'Content-Security-Policy': POLICY }),
  [START]: own(START_SCRIPT, type('javascript')),
  [SCRIPT]: packaged(scriptPath, type('javascript')),
  [STYLE]: packaged(stylePath, type('css')),
};

/** Ours: changes with the service. */
function own(text: string, headers: Record<string, string>): Tagged {
  const etag = `"${new Bun.CryptoHasher('sha256').update(text).digest('base64url')}"`;
  return { text, etag, headers: new Headers({ ...headers, 'Cache-Control': 'no-cache', ETag: etag }) };
}

/** The package's: its address names the version, so that what is there never changes. */
function packaged(path: string, headers: Record<string, string>): Tagged {
  const etag = `"${version}"`;
  const kept = { ...headers, 'Cache-Control': 'public, max-age=31536000, immutable', ETag: etag };
  return { text: Bun.file(path), etag, headers: new Headers(kept) };
}

function type(kind: 'html' | 'javascript' | 'css') {
  return { 'Content-Type': `text/${kind};charset=utf-8` };
}
