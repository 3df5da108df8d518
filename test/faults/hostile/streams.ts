import { join } from 'node:path';
import { beginStreamable, openSseStream, type Target } from '../../support/mcp-wire.ts';
import { requestText, Wire } from '../../support/wire.ts';
import { type Attack, BATCH, type Battle, cutAll, openStreams, PAUSE_MS, postTo, statusOf } from './battle.ts';

/** Clients that hold streams and do not read them, or have disappeared. */
export const STREAM_ATTACKS: readonly Attack[] = [
  { name: 'half-open: streams that are read no more', members: 1, run: stopReading },
  { name: 'half-open: killed while connected', members: 1, run: dieConnected },
  { name: 'slow readers of /sse', members: 1, run: readNothingOfSse },
  { name: 'slow readers of answers on /mcp', members: 1, run: readNothingOfPosts },
  { name: 'revoked with streams open', members: 1, run: beRevoked },
];

async function stopReading(battle: Battle): Promise<void> {
  const streams = await openStreams(battle.targets[0]!, 100);
  for (const { socket } of streams) socket.pause();
  await untilOver(battle);
  cutAll(streams);
}

/** Opens its streams in a process that is killed. */
async function dieConnected(battle: Battle): Promise<void> {
  const { url, key } = battle.targets[0]!;
  while (!battle.isOver()) {
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'killed.ts'), url, key], {
      stdout: 'pipe',
    });
    // The process prints a line when its streams are open.
    await child.stdout.getReader().read();
    child.kill('SIGKILL');
    await child.exited;
    battle.count('killed');
    await Bun.sleep(20 * PAUSE_MS);
  }
}

/** Requests much over a stream that it does not read. The server cuts the stream, and the attack opens it again. */
async function readNothingOfSse(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const wire = await Wire.open(target.url);
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (!battle.isOver()) {
        await Bun.sleep(PAUSE_MS);
        const opened = await openSseStream(target).catch(() => undefined);
        if (!opened) continue;
        opened.stream.socket.pause();
        for (let post = 0; post < 40 && !battle.isOver(); post++) {
          battle.count(await statusOf(target.url, postTo(opened.endpoint, target, READ_ALL)));
        }
        opened.stream.cut();
      }
    }),
  );
  wire.cut();
}

async function readNothingOfPosts(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const shared = await Wire.open(target.url);
  const headers = await beginStreamable(shared, target);
  const wires: Wire[] = [];
  while (!battle.isOver()) {
    const wire = await Wire.open(target.url);
    wire.send(requestText('POST', '/mcp', headers, READ_ALL));
    wire.socket.pause();
    wires.push(wire);
    battle.count('asked');
    if (wires.length > 200) wires.shift()!.cut();
    await Bun.sleep(20);
  }
  cutAll([shared, ...wires]);
}

/** The server has twice its check interval to cut the streams. */
async function beRevoked(battle: Battle): Promise<void> {
  const streams = await openStreams(battle.targets[0]!, 20);
  battle.revoke();
  await Promise.race([Promise.all(streams.map(({ closed }) => closed.promise)), Bun.sleep(CUT_MS)]);
  const cut = streams.filter(({ isEnded }) => isEnded).length;
  for (let each = 0; each < streams.length; each++) battle.count(each < cut ? 'cut in time' : 'left open');
  cutAll(streams);
}

async function untilOver({ isOver }: Battle): Promise<void> {
  while (!isOver()) await Bun.sleep(PAUSE_MS);
}

/** The streams of a revoked key must be cut within this time. */
const CUT_MS = 5_000;
const READ_ALL = Array.from({ length: BATCH }, (_, id) => ({
  ...{ jsonrpc: '2.0', id },
  ...(id % 2
    ? { method: 'tools/list' }
    : { method: 'resources/read', params: { uri: id % 4 ? 'zomma://methods' : 'zomma://gex/SPY/strikes/all' } }),
}));
