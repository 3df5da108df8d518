import { setPriority } from 'node:os';
import { OperatorError } from '../core/errors.ts';
import { childEnv, programCommand } from '../feeds/reader/reader-process.ts';
import { COPIER_COMMAND } from '../settings/config.ts';
import { copyChecked, type DatabaseContents } from '../store/folder/backup.ts';

/** The memory size that the garbage collector of the child assumes for the machine. */
const HEAP_BYTES = 192 * 1024 * 1024;
/** The child yields the processor to a server on the same machine. */
const NICENESS = 10;

/** What the child writes to its standard output. */
type Outcome =
  | { readonly contents: DatabaseContents }
  | { readonly message: string; readonly hint?: string; readonly code?: string; readonly syscall?: string };

/**
 * Copies and checks a database (`copyChecked`) in a process of its own, and kills it when the signal is aborted: SQLite copies for minutes
 * without a return, and signals would wait until then. Rejects with the error of the copy, or with the reason of the signal.
 */
export async function copyInChild(database: string, to: string, signal: AbortSignal): Promise<DatabaseContents> {
  signal.throwIfAborted();
  const child = Bun.spawn([...programCommand(), COPIER_COMMAND, database, to], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
    env: childEnv(HEAP_BYTES),
    signal,
    killSignal: 'SIGKILL',
  });
  const text = await new Response(child.stdout).text();
  await child.exited;
  signal.throwIfAborted();
  if (text === '') {
    const end = child.signalCode ?? `exit code ${child.exitCode}`;
    throw new OperatorError(
      `the process that copies the database ended (${end})`,
      'Look at the memory of the machine.',
    );
  }
  const outcome = JSON.parse(text) as Outcome;
  if ('contents' in outcome) return outcome.contents;
  const { message, hint, ...codes } = outcome;
  throw hint === undefined ? Object.assign(new Error(message), codes) : new OperatorError(message, hint);
}

/** Runs the child of `copyInChild`. Its arguments are the database and the file of the copy. */
export function runCopier([database, to] = process.argv.slice(3)): void {
  if (database === undefined || to === undefined)
    throw new OperatorError('only `zomma backup` can start this command', 'See `zomma backup --help`.');
  setPriority(NICENESS);
  process.stdout.write(JSON.stringify(outcomeOf(() => copyChecked(database, to))));
}

function outcomeOf(copy: () => DatabaseContents): Outcome {
  try {
    return { contents: copy() };
  } catch (error) {
    const { message, hint, code, syscall } = error as Exclude<Outcome, { contents: DatabaseContents }>;
    // JSON leaves out what is undefined.
    return { message, hint, code, syscall } as Outcome;
  }
}
