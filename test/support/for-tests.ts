import { afterAll, beforeAll } from 'bun:test';
import { membersOf, PROGRAM } from './process.ts';
import { type Served, type Service, type ServiceSettings, startServed, startService } from './service.ts';

/** A service for the tests of a file. It runs from before the first test until after the last one. */
export const serviceForTests = (settings?: ServiceSettings): Service => openForTests(() => startService(settings));

/** The same, listening on a socket. */
export function servedForTests(settings?: ServiceSettings): { server: Served; service: Service } {
  const server = openForTests(() => startServed(settings));
  return { server, service: membersOf(() => server.service) };
}

function openForTests<Shared extends { close(): Promise<void> }>(start: () => Promise<Shared>): Shared {
  let shared: Shared;
  beforeAll(async () => {
    shared = await start();
  });
  afterAll(() => shared.close());
  return membersOf(() => shared);
}

/** Runs a command in a terminal. Returns its exit code and what the terminal shows. */
export async function runInTerminal(
  args: readonly string[],
  [cols, rows]: readonly [number, number],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; shown: string }> {
  const decoder = new TextDecoder();
  let shown = '';
  const data = (_terminal: unknown, bytes: Uint8Array) => {
    shown += decoder.decode(bytes, { stream: true });
  };
  const child = Bun.spawn([...PROGRAM, ...args], {
    env: { ...process.env, ...env },
    terminal: { cols, rows, data },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { code, shown };
}
