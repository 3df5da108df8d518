import { afterAll } from 'bun:test';
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testNeeding } from './needs.ts';

/** Mounts a disk of 24 MB in memory for the tests of a file, which only root may do. */
export function smallDisk() {
  const disk = mkdtempSync(join(tmpdir(), 'zomma-disk-'));
  const at = (name: string) => join(disk, name);
  const mount = (...args: string[]) => Bun.spawnSync(['mount', ...args, disk]).success;
  const isMounted = process.geteuid?.() === 0 && mount('-t', 'tmpfs', '-o', 'size=24m', 'tmpfs');
  afterAll(() => {
    if (isMounted) Bun.spawnSync(['umount', '-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });
  return {
    ...{ at, isMounted },
    onDisk: testNeeding(isMounted, 'this user may not mount a disk'),
    /** Mounts the disk again with other options. */
    mount,
    /** Fills the disk to its last byte. */
    fill(): void {
      const file = openSync(at('filler'), 'w');
      try {
        for (let bytes = 1 << 20; bytes > 0; ) {
          try {
            writeSync(file, Buffer.alloc(bytes));
          } catch {
            bytes >>= 1;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    /** Frees the disk again. */
    free: () => rmSync(at('filler'), { force: true }),
  };
}

/** Overwrites a database after its first page. */
export function damageFile(path: string): void {
  const file = openSync(path, 'r+');
  const bytes = crypto.getRandomValues(new Uint8Array(4_096));
  for (let page = 1; page * 4_096 < statSync(path).size; page++) writeSync(file, bytes, 0, 4_096, page * 4_096);
  closeSync(file);
}
