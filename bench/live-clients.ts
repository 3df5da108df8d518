import { eventsOf } from '../test/support/event-stream.ts';

/**
 * `bun bench/live-clients.ts URL KEY TICKERS COUNT DROPS_PER_S`: follows a stream COUNT times from a process of its own, cutting some
 * at random and taking them up again. On stdin a line says when to begin with the cuts, and the next, once all is stored, which id is
 * the last; each client's ids and the milliseconds from snapshot to arrival leave on stdout as JSON.
 */
const [url, key, tickers, count, dropsPerS] = process.argv.slice(2) as [string, string, string, string, string];

interface Client {
  ids: number[];
  cut: AbortController;
  /** Events of snapshots before this were missed, and come late for that alone. */
  openedAt: number;
  last: string | undefined;
}

const latencies: number[] = [];
let drops = 0;
let final = Number.POSITIVE_INFINITY;
const clients = Array.from(
  { length: Number(count) },
  (): Client => ({
    ids: [],
    cut: new AbortController(),
    openedAt: 0,
    last: undefined,
  }),
);

/** Reads until the final event is there, through any number of cuts. */
async function follow(client: Client): Promise<void> {
  while ((client.ids.at(-1) ?? 0) < final) {
    client.cut = new AbortController();
    try {
      const response = await fetch(`${url}/api/v1/stream/gex/${tickers}`, {
        headers: { 'X-API-Key': key, ...(client.last !== undefined && { 'Last-Event-ID': client.last }) },
        signal: client.cut.signal,
      });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      client.openedAt = Date.now();
      await take(client, eventsOf(response.body!));
    } catch (error) {
      if (!client.cut.signal.aborted) throw error;
      // Away for up to two seconds.
      await Bun.sleep(2_000 * Math.random());
    }
  }
}

async function take(client: Client, events: ReturnType<typeof eventsOf>): Promise<void> {
  while ((client.ids.at(-1) ?? 0) < final) {
    const event = await events.next();
    if (event === undefined) return;
    const now = Date.now();
    client.last = event.id!;
    client.ids.push(Number(event.id));
    const asOf = Date.parse(/"as_of":"([^"]+)"/.exec(event.data)![1]!);
    if (asOf > client.openedAt) latencies.push(now - asOf);
  }
  client.cut.abort();
}

function dropOne(): void {
  drops++;
  clients[Math.floor(Math.random() * clients.length)]!.cut.abort();
}

const done = Promise.all(clients.map(follow));
const lines = console[Symbol.asyncIterator]();
await lines.next();
const dropping = setInterval(dropOne, 1_000 / Number(dropsPerS));
final = Number((await lines.next()).value);
clearInterval(dropping);
// Who has the final event already waits for one that does not come.
for (const client of clients) if ((client.ids.at(-1) ?? 0) >= final) client.cut.abort();
await done;
console.log(JSON.stringify({ drops, latencies, ids: clients.map(({ ids }) => ids) }));
process.exit(0);
