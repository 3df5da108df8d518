import { EventSource } from 'eventsource';

/**
 * `bun test/cluster/stream-clients.ts URL TICKERS EACH` holds streams of live levels in a process of its own, each of EACH of the TICKERS, with a
 * client of the standard, which connects again and sends the id of its last event. Each line on stdin is JSON, and is answered by a line of
 * JSON:
 * - `{ open, key }` opens streams with a key, and waits until each has an event. The answer has the id of an event.
 * - `{ brokenAt }` waits until each stream that was open at a time, ms since 1970, has had an event in a new connection. The answer says how long
 *   that took.
 * - `{ moments }` waits until each stream has the levels of its tickers of all of these moments. The answer says how many came how often.
 * - `{ closed }` waits until so many streams have been refused, and will not connect again.
 */
const [url, names, each] = process.argv.slice(2) as [string, string, string];
const market = names.split(',');

interface Client {
  readonly source: EventSource;
  readonly tickers: readonly string[];
  /** How often each level came. */
  readonly levels: Map<string, number>;
  /** When the connection that has had an event first had one, ms since 1970. */
  backAt: number;
  isBroken: boolean;
}

const clients: Client[] = [];
const waiting = new Set<() => void>();

/** Resolves when `holds` returns true, which is asked after each event and each error of a stream. */
function until(holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => {
    if (!holds()) return;
    waiting.delete(check);
    resolve();
  };
  waiting.add(check);
  check();
  return promise;
}

function open(key: string): Client {
  const first = clients.length;
  const tickers = Array.from({ length: Number(each) }, (_, i) => market[(first + i) % market.length]!);
  const source = new EventSource(`${url}/api/v1/stream/gex/${tickers}`, {
    fetch: (address, { headers, ...init }) =>
      fetch(address, { ...init, headers: { ...headers, 'X-API-Key': key }, tls: { rejectUnauthorized: false } }),
  });
  const client: Client = { source, tickers, levels: new Map(), backAt: 0, isBroken: true };
  source.addEventListener('gex', ({ data }) => {
    const level = `${/"ticker":"([^"]+)"/.exec(data)![1]} ${Date.parse(/"as_of":"([^"]+)"/.exec(data)![1]!)}`;
    client.levels.set(level, (client.levels.get(level) ?? 0) + 1);
    if (client.isBroken) client.backAt = Date.now();
    client.isBroken = false;
    for (const check of waiting) check();
  });
  source.addEventListener('error', () => {
    client.isBroken = true;
    for (const check of waiting) check();
  });
  clients.push(client);
  return client;
}

interface Job {
  readonly open?: number;
  readonly key?: string;
  readonly brokenAt?: number;
  readonly moments?: readonly number[];
  readonly closed?: number;
}

async function answerOf(job: Job): Promise<object> {
  if (job.open !== undefined) {
    const opened = Array.from({ length: job.open }, () => open(job.key!));
    let id = '';
    opened[0]!.source.addEventListener('gex', ({ lastEventId }) => {
      id = lastEventId;
    });
    const isRefused = () => opened.some(({ source }) => source.readyState === EventSource.CLOSED);
    await until(() => opened.every(({ levels }) => levels.size > 0) || isRefused());
    if (isRefused()) throw new Error('a stream was refused');
    return { id };
  }
  const { brokenAt, moments, closed } = job;
  if (brokenAt !== undefined) {
    await until(() => clients.every(({ backAt }) => backAt > brokenAt));
    return { backMs: Math.max(...clients.map(({ backAt }) => backAt)) - brokenAt };
  }
  if (moments) {
    const due = ({ tickers }: Client) => tickers.flatMap((ticker) => moments.map((moment) => `${ticker} ${moment}`));
    const missing = clients.flatMap((client) => due(client).map((level) => ({ client, level })));
    await until(() => {
      while (missing.length > 0 && missing.at(-1)!.client.levels.has(missing.at(-1)!.level)) missing.pop();
      return missing.length === 0;
    });
    const counts: Record<string, number> = {};
    for (const client of clients)
      for (const level of due(client)) {
        const count = client.levels.get(level)!;
        counts[count] = (counts[count] ?? 0) + 1;
      }
    return { counts };
  }
  await until(() => clients.filter(({ source }) => source.readyState === EventSource.CLOSED).length === closed);
  return {};
}

for await (const line of console) console.log(JSON.stringify(await answerOf(JSON.parse(line))));
process.exit(0);
