import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openStored } from '../../src/server/stored-data.ts';
import type { SharedStore } from '../../src/store/sqlite.ts';
import { PASSWORD, type PostgresServer, USER } from './postgres.ts';
import { PROGRAM, type Run, run, type Server, startServer } from './process.ts';

/** The programs that share a database of a Postgres server. */
export class SharedStoreUsers {
  readonly store: string;
  readonly env: Readonly<Record<string, string>>;

  constructor({ address }: Pick<PostgresServer, 'address'>, database = USER, login = USER) {
    this.store = `postgres://${login}@${address}/${database}`;
    this.env = { ZOMMA_STORE: this.store, ZOMMA_STORE_PASSWORD: PASSWORD };
  }

  /** Starts a server whose name is that of its folder. */
  serve(dataDir: string, ...flags: string[]): Promise<Server> {
    const name = dataDir.split('/').at(-1)!;
    return startServer(PROGRAM, ['serve', '--port', '0', '--replica', name, '--data-dir', dataDir, ...flags], this.env);
  }

  /** Runs a command on a data folder. */
  command(dataDir: string, args: readonly string[], stdin?: string): Promise<Run> {
    return run(PROGRAM, [...args, '--data-dir', dataDir], stdin, this.env);
  }

  /** Waits until the copy in a data folder has something. The time limit of the test bounds the wait. */
  async untilCopied(dataDir: string, holds: (store: SharedStore) => boolean): Promise<void> {
    using copy = openStored({ dataDir, store: this.store });
    while (!holds(copy)) await Bun.sleep(10);
  }
}

/** Returns the names, sizes and times of the files in a folder. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .sort();
}
