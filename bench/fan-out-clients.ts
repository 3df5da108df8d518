import { requestText } from '../test/support/wire.ts';

/**
 * `bun bench/fan-out-clients.ts URL TICKERS` holds streams of live levels in a process of its own, and counts their events. Each line on
 * stdin is JSON: `{ open, key }` opens streams with a key, and `{}` asks for the counts. Each answer is a line of JSON: the number of open
 * streams, and of the events that they have got together.
 */
const [url, tickers] = process.argv.slice(2) as [string, string];
const { hostname, port } = new URL(url);
const EVENT = '\nevent: ';
let events = 0;
let streams = 0;

async function open(key: string): Promise<void> {
  const begun = Promise.withResolvers<void>();
  let tail = '';
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        const text = tail + bytes.toString('latin1');
        if (text.startsWith('HTTP/1.1 200')) {
          streams++;
          begun.resolve();
        }
        for (let at = text.indexOf(EVENT); at >= 0; at = text.indexOf(EVENT, at + 1)) events++;
        tail = text.slice(1 - EVENT.length);
      },
      close() {
        streams--;
        begun.resolve();
      },
    },
  });
  socket.write(requestText('GET', `/api/v1/stream/gex/${tickers}`, { 'X-API-Key': key }));
  await begun.promise;
}

for await (const line of console) {
  const { open: count = 0, key } = JSON.parse(line) as { open?: number; key?: string };
  for (let i = 0; i < count; i++) await open(key!);
  console.log(JSON.stringify({ streams, events }));
}
process.exit(0);
