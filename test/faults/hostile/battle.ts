import { beginStreamable, openSseStream, type Target } from '../../support/mcp-wire.ts';
import { requestText, Wire } from '../../support/wire.ts';

export interface Attack {
  readonly name: string;
  /** The number of members that the attack needs. */
  readonly members: number;
  /** Answers that the attack must get. On a slow machine the attacks continue until then. */
  readonly meets?: readonly string[];
  /** Ends when the attacks are over, and closes everything that it opened. */
  run(battle: Battle): Promise<void>;
}

/** The input of an attack: its members, and a counter. */
export interface Battle {
  readonly url: string;
  /** One for each member that the attack requested. */
  readonly targets: readonly Target[];
  /** The sessions of a member who is not an attacker, one on each transport: the address `/messages?…` and the id for `/mcp`. */
  readonly victim: { readonly endpoint: string; readonly sessionId: string };
  /** Revokes the keys of the attack's members. */
  revoke(): void;
  count(what: string | number): void;
  readonly isOver: () => boolean;
}

/** The pause between two actions of one attack. */
export const PAUSE_MS = 100;
/** Messages of one batch: the maximum that the server accepts. */
export const BATCH = 50;

/** Repeats the work over this many sockets, each with a pause after each round, until the attacks are over. */
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

/** Opens streams, half of them over each transport. */
export async function openStreams(target: Target, count: number): Promise<Wire[]> {
  const shared = await Wire.open(target.url);
  const streams: Wire[] = [];
  for (let i = 0; i < count; i++) {
    if (i % 2) {
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

/** Sends one request over a new socket. Returns its status, or that the server closed the socket without one. */
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

/** A request without an answer after this time will not get one. */
const ANSWER_MS = 5_000;
