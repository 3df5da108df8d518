import { READ_RESOURCE } from '../../src/mcp/read-resource.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { callEach, callOne } from './calls.ts';
import type { ClientUnderTest, Connection, Target } from './client.ts';
import type { Service } from './service.ts';

export interface Seen {
  /** A short result for the table. */
  readonly verdict: string;
  /** The client's own message, if there is one. */
  readonly said?: string;
}

/** Runs a step with a client. The verdict is `fails` if an answer is wrong or missing. */
export async function take(step: Step, client: ClientUnderTest, service: Service): Promise<Seen> {
  try {
    return await step(client, service);
  } catch (error) {
    return { verdict: 'fails', said: brief((error as Error).message) };
  }
}

type Step = (client: ClientUnderTest, service: Service) => Promise<Seen>;

/** The steps of every client. Each step uses a new connection. */
export const STEPS: Readonly<Record<string, Step>> = {
  'lists the tools': (client, service) =>
    connected(client, targetOf(service), async (connection) => {
      const names = (await connection.list()).toSorted().join(', ');
      if (names === NAMES) return { verdict: 'ok' };
      throw new Error(`listed ${names}`);
    }),
  'calls each tool': (client, service) =>
    connected(client, targetOf(service), async (connection) => {
      await callEach(connection);
      return { verdict: 'ok' };
    }),
  'unknown tool': (client, service) =>
    connected(client, targetOf(service), async (connection) => {
      const said = await refusal(connection.call('no_such_tool', {}));
      if (said.includes("Tool 'no_such_tool' is not registered")) return { verdict: 'ok' };
      if (client.asksOnlyForListed && said.includes('no_such_tool')) return { verdict: 'not asked' };
      throw new Error(said);
    }),
  'wrong key': async (client, service) => {
    if (client.transport === 'stdio') return NOTHING_TO_SEE;
    const wrong = { ...targetOf(service), key: WRONG_KEY };
    const said = await refusal(connected(client, wrong, (connection) => connection.list()));
    if (/\b40[13]\b|Invalid Subscriber Key/.test(said)) return { verdict: 'rejected', said: brief(said) };
    throw new Error(said);
  },
  'connection cut': (client, service) => dropped(client, service, async () => service.wire.cut()),
  'server restarted': (client, service) => dropped(client, service, service.restart),
};

/** No client under test reads resources by itself, so each of them gets the tool for that. */
const NAMES = [...TOOLS, READ_RESOURCE]
  .map(({ name }) => name)
  .toSorted()
  .join(', ');
const NOTHING_TO_SEE: Seen = { verdict: '' };
/** A key of the right form that belongs to no member. */
const WRONG_KEY = 'ZOMMA_0000000000000000';
/** Time limit for a client without a response. */
const SILENCE_MS_MAX = 20_000;
/** Time limit for a disconnected client to recover by itself, and the pause between two attempts. */
const RETURN_MS_MAX = 10_000;
const RETRY_MS = 250;
const SAID_MAX = 120;
const KNOWN = [
  /(403 Forbidden: )?Invalid Subscriber Key/,
  /There is no such session/,
  /SSE error: [^:]*\(\d+\)/,
  /the server denied access \(HTTP 403\)/,
  /content block with unexpected type "\w+\."/,
];

function targetOf({ wire, key, dataDir }: Service): Target {
  return { url: wire.url, key, dataDir };
}

/** Runs `work` on a connection, and closes the connection afterwards. */
async function connected<T>(
  client: ClientUnderTest,
  to: Target,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = limited(await within(SILENCE_MS_MAX, client.connect(to)));
  try {
    return await work(connection);
  } finally {
    // Some clients reject because they are already closed.
    await connection.close().catch(() => {});
  }
}

/** The same connection. Each of its requests fails after a time without a response. */
function limited({ list, call, close }: Connection): Connection {
  return {
    list: () => within(SILENCE_MS_MAX, list()),
    call: (name, args) => within(SILENCE_MS_MAX, call(name, args)),
    close,
  };
}

/** After a disconnection the same connection must work again, or a new one must. */
function dropped(client: ClientUnderTest, service: Service, drop: () => Promise<void>): Promise<Seen> {
  if (client.transport === 'stdio') return Promise.resolve(NOTHING_TO_SEE);
  const target = targetOf(service);
  return connected(client, target, async (connection) => {
    await callOne(connection);
    await drop();
    const until = performance.now() + RETURN_MS_MAX;
    let said: string | undefined;
    while (performance.now() < until) {
      try {
        await within(until - performance.now(), callOne(connection));
        return said ? { verdict: 'back by itself', said } : { verdict: 'back at once' };
      } catch (error) {
        said = brief((error as Error).message);
        await Bun.sleep(RETRY_MS);
      }
    }
    await connected(client, target, callOne);
    return { verdict: 'a new connection works', ...(said && { said }) };
  });
}

async function refusal(answer: Promise<unknown>): Promise<string> {
  let answered: unknown;
  try {
    answered = await answer;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`answered ${JSON.stringify(answered)}`);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no response for ${Math.round(ms / 1000)} s`)), ms);
  return await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** The first 120 characters. A known message is extracted from the text around it. */
function brief(said: string): string {
  const [known] = KNOWN.map((words) => said.match(words)?.[0]).filter(Boolean);
  const line = known ?? said.replaceAll(/\s+/g, ' ').trim();
  return line.length > SAID_MAX ? `${line.slice(0, SAID_MAX)} …` : line;
}
