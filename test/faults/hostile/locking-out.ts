import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';

/**
 * `bun test/faults/hostile/locking-out.ts URL COUNT KIND` opens this many connections without a key and keeps them open. The kind is `http2`
 * (with occasional PINGs), `http1` (with occasional requests), or `half` (with a request that never ends, a byte of it at a time). A connection
 * of the kind `half` that is closed is opened again. Prints the number of open connections to stdout again and again.
 */
const [url, count, kind] = process.argv.slice(2) as [string, string, 'http1' | 'http2' | 'half'];
const { hostname, port } = new URL(url);
const AGAIN_MS = 500;
let open = 0;

function holdHttp1(): void {
  const socket = connect(Number(port), hostname);
  const head = 'GET /health HTTP/1.1\r\nHost: localhost\r\n';
  const ask = () => socket.write(kind === 'half' ? 'a' : `${head}\r\n`);
  const asking = setInterval(ask, AGAIN_MS);
  socket.on('connect', () => {
    open++;
    if (kind === 'half') socket.write(`${head}X-Slow: `);
    ask();
  });
  socket.on('data', () => {});
  socket.on('error', () => {});
  socket.on('close', (failed) => {
    clearInterval(asking);
    if (!failed) open--;
    if (kind === 'half') setTimeout(holdHttp1, AGAIN_MS);
  });
}

function holdHttp2(): void {
  const session = connectHttp2(url, { rejectUnauthorized: false });
  const pinging = setInterval(() => !session.destroyed && session.ping(() => {}), AGAIN_MS);
  let isOpen = false;
  session.on('connect', () => {
    isOpen = true;
    open++;
  });
  session.on('error', () => {});
  session.on('close', () => {
    clearInterval(pinging);
    if (isOpen) open--;
  });
}

for (let i = 0; i < Number(count); i++) (kind === 'http2' ? holdHttp2 : holdHttp1)();
setInterval(() => console.log(open), 50);
