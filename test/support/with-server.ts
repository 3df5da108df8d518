import { afterAll, beforeAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf, membersOf, type Server, startLoaded } from './process.ts';

/** A server that runs during the tests of a file or of a `describe`. */
export interface TestServer extends Server {
  /** A folder that is removed after the tests. The data folder is `data` in it. */
  readonly folder: string;
  readonly dataDir: string;
  /** The demo key that `zomma start` has printed. */
  readonly key: string;
  /** Ends the server and starts it again on the same data, with these arguments after its own. */
  restart(...args: string[]): Promise<void>;
}

/**
 * Starts a server before the tests, waits until its data is loaded, and ends it after the tests. `args` gets the folder of the tests, and can
 * write files into it. The argument for the data folder is added.
 */
export function withServer(
  command: readonly string[],
  args: (folder: string) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): TestServer {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-test-'));
  const dataDir = join(folder, 'data');
  let own: readonly string[];
  let server: Server | undefined;
  const start = async (...added: string[]) => {
    server = await startLoaded(command, [...own, '--data-dir', dataDir, ...added], env);
  };
  beforeAll(() => {
    own = args(folder);
    return start();
  }, 60_000);
  afterAll(async () => {
    await server?.stop('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });
  return membersOf(() => ({
    ...server!,
    ...{ folder, dataDir },
    get key() {
      return keyOf(server!);
    },
    async restart(...added: string[]) {
      await server!.stop('SIGTERM');
      await start(...added);
    },
  }));
}
