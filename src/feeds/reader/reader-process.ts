import { existsSync, writeFileSync } from 'node:fs';
import { ownCommand } from '../../core/own-command.ts';

/** Returns the command that runs this program: the executable, or the runtime with the sources. */
export function programCommand(): string[] {
  const own = ownCommand();
  // The code starts the running executable, even if another version has replaced its file on the disk.
  return own.length === 1 && existsSync(RUNNING_EXECUTABLE) ? [RUNNING_EXECUTABLE] : own;
}

const RUNNING_EXECUTABLE = '/proc/self/exe';

/**
 * Returns the environment for a started process, without credentials: only the variables needed to start and to write files and times. Its
 * garbage collector assumes a machine with `heapBytes` bytes, because it would else wait until much of the real memory is in use.
 */
export function childEnv(heapBytes: number): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name)) as [string, string][];
  return { ...Object.fromEntries(inherited), BUN_JSC_forceRAMSize: String(heapBytes) };
}

/** The variables that a started process inherits. Those of `BUN_JSC_` switch parts of the runtime off where a system forbids them. */
const INHERITED = /^(?:PATH|TMPDIR|TZ|LANG|LC_\w+|LD_LIBRARY_PATH|BUN_JSC_\w+)$/;

/** If the system runs out of memory, this process is killed before the service. */
export function preferAsOomVictim(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // The operating system has no /proc.
  }
}
