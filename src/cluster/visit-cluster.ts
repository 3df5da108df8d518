import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SharedSecret } from '../access/access.ts';
import { OperatorError } from '../core/errors.ts';
import { type Mirror, openMirror } from '../store/mirror.ts';
import { MIRROR, requireFitMirror } from '../store/mirror-file.ts';
import type { SharedStore } from '../store/sqlite.ts';
import { readHead } from './cluster-schema.ts';
import { sharedSecret } from './cluster-secret.ts';
import { EngineAway, LATER_HINT } from './engine-errors.ts';
import { type ClusterSettings, engineUrl, type StoreLogin } from './join-cluster.ts';
import { type Engine, openEngine } from './postgres-engine.ts';
import { openReplica, type Replica } from './replica.ts';

/** The name of commands among the servers of the database. */
const COMMAND = 'command';

/** The data of a cluster as one command sees it. Its writes know the secret that the servers share. */
export interface Visit extends AsyncDisposable {
  readonly store: SharedStore;
  readonly secret: SharedSecret;
  readonly engine: Engine;
  close(): Promise<void>;
}

/**
 * Joins the cluster of a database for one command. The mirror is that of a server on this machine, or a new one. A mirror that does not fit is
 * refused, because a server may use it. Call `close` at the end.
 */
export async function visitCluster(settings: StoreLogin & Pick<ClusterSettings, 'dataDir'>): Promise<Visit> {
  const { dataDir } = settings;
  const path = join(dataDir, MIRROR);
  const engine = openEngine(engineUrl(settings), { replica: COMMAND });
  let mirror: Mirror | undefined;
  let replica: Replica | undefined;
  const close = async (): Promise<void> => {
    await (replica ? replica.close() : mirror?.close());
    await engine.close();
  };
  const ignored = () => {};
  try {
    await engine.transaction(readHead);
    if (existsSync(path)) requireFitMirror(path, { mayLack: true });
    mirror = openMirror(path, Date.now, ignored);
    replica = await openReplica({
      ...{ engine, mirror, name: COMMAND },
      onApplied: ignored,
      onRefill(reason) {
        throw new OperatorError(
          `${path} does not fit the database of --store: ${reason}`,
          'Correct --store or --data-dir, or start the server on the folder, which copies the data again.',
        );
      },
      onProblem: ignored,
    });
    await replica.catchUp();
    const secret = sharedSecret(dataDir);
    const store = replica.hooked(secret);
    const write: SharedStore['write'] = (work) => store.write(work).catch(forCommand);
    return { store: { ...store, write }, secret, engine, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw forCommand(error);
  }
}

/** Throws an error with what a person does about it. A server would only wait. */
function forCommand(error: unknown): never {
  if (!(error instanceof EngineAway)) throw error;
  const { message, hint, outcomeUnknown } = error;
  if (outcomeUnknown)
    throw new OperatorError(
      `${message}, and it is not known whether the change is stored`,
      'Look whether it is, before you run the command again.',
      { cause: error },
    );
  const again = 'Run the command again. If this stays, look at the log of Postgres.';
  throw new OperatorError(message, hint === LATER_HINT ? again : hint, { cause: error });
}
