import { answerBatch, answerBinaryBatch, BATCH_PATH, BINARY_TYPE } from './batch.ts';
import { answerGreeks, GREEKS_PATH } from './greeks.ts';

/** The argument JSON of `bun bench/http-servers/raw.ts work JSON`. */
export interface RawWork {
  readonly key: string;
  /** Responses to GET requests, by path. */
  readonly cached: Readonly<Record<string, CachedAnswer>>;
}

/** Body and header fields of a response. */
export interface CachedAnswer {
  readonly body: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * `raw.ts constant TEXT` answers every request with TEXT. `raw.ts work JSON` does the same work as Zomma without a framework: it looks up
 * the key, parses the body, calls the kernel and sends the same header fields.
 */
if (import.meta.main) {
  const [mode, given] = process.argv.slice(2) as ['constant' | 'work', string];
  const fetch = mode === 'constant' ? constant(given) : work(JSON.parse(given));
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch });
  console.log(`listening on http://127.0.0.1:${server.port}`);
}

type Fetch = (request: Request) => Response | Promise<Response>;

function constant(text: string): Fetch {
  return () => new Response(text, { headers: { 'Content-Type': JSON_TYPE } });
}

function work({ key, cached }: RawWork): Fetch {
  const accounts = new Map([[key, { remaining: 1e9 }]]);
  const answers = new Map(Object.entries(cached));
  return (request) => {
    const account = accounts.get(request.headers.get('x-api-key') ?? '');
    if (!account) return new Response(null, { status: 403 });
    const rate = `"account";r=${--account.remaining};t=0`;
    const { url } = request;
    const start = url.indexOf('/', 'http://'.length);
    const query = url.indexOf('?', start);
    const path = url.slice(start, query < 0 ? undefined : query);
    if (request.method === 'GET') {
      const answer = answers.get(path);
      if (!answer) return new Response(null, { status: 404 });
      const headers = { ...answer.fields, 'X-Request-Id': requestId(), 'RateLimit-Policy': POLICY, RateLimit: rate };
      return request.headers.get('if-none-match') === answer.fields.ETag
        ? new Response(null, { status: 304, headers })
        : new Response(answer.body, { headers });
    }
    return post(request, path, rate);
  };
}

async function post(request: Request, path: string, rate: string): Promise<Response> {
  if (Number(request.headers.get('content-length')) > BODY_BYTES_MAX) return new Response(null, { status: 413 });
  const isBinary = path === BATCH_PATH && request.headers.get('content-type') === BINARY_TYPE;
  const body =
    path === GREEKS_PATH
      ? JSON.stringify(answerGreeks(JSON.parse(await request.text())))
      : isBinary
        ? answerBinaryBatch(await request.arrayBuffer())
        : answerBatch(await request.text());
  return new Response(body, {
    headers: {
      'Content-Type': isBinary ? BINARY_TYPE : JSON_TYPE,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId(),
      'RateLimit-Policy': POLICY,
      RateLimit: rate,
    },
  });
}

/** Returns 64 random bits as hexadecimal digits. */
function requestId(): string {
  return crypto.getRandomValues(idBytes).toHex();
}

const idBytes = new Uint8Array(8);
const JSON_TYPE = 'application/json;charset=utf-8';
const POLICY = '"account";q=1000000;w=1';
const BODY_BYTES_MAX = 4 * 1024 * 1024;
