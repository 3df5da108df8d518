import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';

/**
 * `bun test/faults/hostile/locking-out.ts URL COUNT` opens this many connections without a key and keeps them open: over HTTP/2 with
 * occasional PINGs, otherwise with occasional requests. It prints the number of open connections to stdout again and again.
 */
const [url, count] = process.argv.slice(2) as [string, string];
const { hostname, port, protocol } = new URL(url);
const AGAIN_MS = 500;
let open = 0;

function holdHttp1(): void {
  const socket = connect(Number(port), hostname);
  const ask = () => socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const asking = setInterval(ask, AGAIN_MS);
  socket.on('connect', () => {
    open++;
    ask();
  });
  socket.on('data', () => {});
  socket.on('error', () => {});
  socket.on('close', (failed) => {
    clearInterval(asking);
    if (!failed) open--;
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

for (let i = 0; i < Number(count); i++) (protocol === 'https:' ? holdHttp2 : holdHttp1)();
setInterval(() => console.log(open), 50);
