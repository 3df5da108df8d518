import { began } from './event-loop-watchdog.ts';

const MIB = 1024 * 1024;

/**
 * The garbage collector lets memory double before it acts, and more while it works beside the program: large columns and texts that come
 * and go fast could fill a machine of 1 GiB. A collection holds the event loop for some 20 ms, so that it is forced only in a process that has
 * grown large.
 */
const COLLECT_EVERY = 48 * MIB;
const COLLECT_FROM = 300 * MIB;

/** The least time between two collections. */
const PAUSE_MS = 100;

let allocated = 0;
let isDue = false;

/** Counts bytes that the work of one request has allocated. As they add up in a process that has grown large, garbage is collected. */
export function countAllocated(bytes: number): void {
  allocated += bytes;
  if (allocated < COLLECT_EVERY) return;
  allocated = 0;
  if (process.memoryUsage.rss() > COLLECT_FROM) collectSoon();
}

/** Collects garbage after the turn in hand: what its callers hold is no garbage yet. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  setImmediate(() => {
    began('garbage collection');
    Bun.gc(true);
    // Of a large heap it takes 100 ms: others have their time before the next one.
    setTimeout(() => {
      isDue = false;
    }, PAUSE_MS).unref();
  });
}
