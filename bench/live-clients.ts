import { seqOf } from '../test/support/event-ids.ts';
import { eventsOf } from '../test/support/event-stream.ts';

/**
 * `bun bench/live-clients.ts URL KEY TICKERS COUNT DROPS_PER_S` runs COUNT clients in a process of its own. Each client reads the stream of
 * the levels of TICKERS, a list separated by commas. The first line on stdin starts the disconnections: each second, DROPS_PER_S random
 * clients disconnect, and connect again within two seconds. The second line has the sequence number of the last event, and ends the
 * disconnections. When all clients have that event, the process writes a JSON object to stdout: the number of disconnections, the sequence numbers
 * that each client got, and the times from snapshot to client, ms.
 */
const [url, key, tickers, count, dropsPerS] = process.argv.slice(2) as [string, string, string, string, string];

interface Client {
  seqs: number[];
  cut: AbortController;
  /**
   * When the client last connected, ms since 1970. The times of events of earlier snapshots are not measured, because these events waited
   * for the client to connect again.
   */
  openedAt: number;
  /** Id of the last event. */
  last: string | undefined;
}

const latencies: number[] = [];
let drops = 0;
let final = Number.POSITIVE_INFINITY;
const clients = Array.from(
  { length: Number(count) },
  (): Client => ({
    seqs: [],
    cut: new AbortController(),
    openedAt: 0,
    last: undefined,
  }),
);

/** Reads until the client has the final event. Connects again after each disconnection. */
async function follow(client: Client): Promise<void> {
  while ((client.seqs.at(-1) ?? 0) < final) {
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
      // The client stays disconnected for up to two seconds.
      await Bun.sleep(2_000 * Math.random());
    }
  }
}

/** Reads one connection's events until the client has the final event or the stream ends. */
async function take(client: Client, events: ReturnType<typeof eventsOf>): Promise<void> {
  while ((client.seqs.at(-1) ?? 0) < final) {
    const event = await events.next();
    if (event === undefined) return;
    const now = Date.now();
    client.last = event.id!;
    client.seqs.push(seqOf(event.id));
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
// A client that already has the final event waits for another event, which never comes. Disconnecting ends its wait.
for (const client of clients) if ((client.seqs.at(-1) ?? 0) >= final) client.cut.abort();
await done;
console.log(JSON.stringify({ drops, latencies, seqs: clients.map(({ seqs }) => seqs) }));
process.exit(0);
