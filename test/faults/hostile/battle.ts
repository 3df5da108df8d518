import { beginStreamable, openSseStream, type Target } from '../../support/mcp-wire.ts';
import { requestText, Wire } from '../../support/wire.ts';

export interface Attack {
  readonly name: string;
  /** Members that it needs. */
  readonly members: number;
  /** Answers that it must meet: on a slow machine the battle goes on until it has. */
  readonly meets?: readonly string[];
  /** Ends, with all that it has opened, once the battle is over. */
  run(battle: Battle): Promise<void>;
}

/** What an attack is given: members of its own, and where to count. */
export interface Battle {
  readonly url: string;
  /** One to each member that the attack asked for. */
  readonly targets: readonly Target[];
  /** A member who is none of the attackers' and has a session open on each transport: `/messages?…` and the id for `/mcp`. */
  readonly victim: { readonly endpoint: string; readonly sessionId: string };
  /** Takes the access of the attack's own members away. */
  revoke(): void;
  count(what: string | number): void;
  readonly isOver: () => boolean;
}

/** Between two blows of one attack. */
export const PAUSE_MS = 100;
/** Messages of one batch, the most there may be. */
export const BATCH = 50;

/** Over so many sockets, each again as soon as it has done and paused, until the battle is over. */
export async function repeat(
  battle: Battle,
  sockets: number,
  work: (wire: Wire) => Promise<void>,
  pauseMs: number,
): Promise<void> {
  const go = async (): Promise<void> => {
    const wire = await Wire.open(battle.url);
    while (!battle.isOver()) {
      await work(wire).catch(() => battle.count('closed'));
      await Bun.sleep(pauseMs);
    }
    wire.cut();
  };
  await Promise.all(Array.from({ length: sockets }, go));
}

/** Half over each transport. */
export async function openStreams(target: Target, count: number): Promise<Wire[]> {
  const shared = await Wire.open(target.url);
  const streams: Wire[] = [];
  for (let at = 0; at < count; at++) {
    if (at % 2) {
      streams.push((await openSseStream(target)).stream);
      continue;
    }
    const stream = await Wire.open(target.url, () => {});
    await stream.ask(requestText('GET', '/mcp', await beginStreamable(shared, target)));
    streams.push(stream);
  }
  shared.cut();
  return streams;
}

/** Of one request over a socket of its own: its status, or that the server closed without. */
export async function statusOf(url: string, request: string): Promise<number | string> {
  const wire = await Wire.open(url).catch(() => undefined);
  if (!wire) return 'refused';
  const answer = await Promise.race([
    wire.ask(request).catch(() => undefined),
    Bun.sleep(ANSWER_MS).then(() => 'silent'),
  ]);
  wire.cut();
  return typeof answer === 'string' ? answer : (answer?.status ?? 'closed');
}

export function postTo(path: string, { key }: Target, body: unknown): string {
  return requestText('POST', path, { 'X-API-Key': key }, body);
}

export function cutAll(wires: readonly Wire[]): void {
  for (const wire of wires) wire.cut();
}

/** Who has not been answered for so long will not be. */
const ANSWER_MS = 5_000;
