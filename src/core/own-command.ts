import { join } from 'node:path';

/** Returns the command that starts this program: the path of the executable, or the runtime and the path of the sources. */
export function ownCommand(): [program: string, ...args: string[]] {
  // In a compiled executable, the modules are in an embedded file system.
  const isCompiled = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(import.meta.dir);
  return isCompiled ? [process.execPath] : [process.execPath, join(import.meta.dir, '../main.ts')];
}
