const MIB = 1024 * 1024;

/**
 * The garbage collector lets memory double before it runs. So large columns and texts that are used only briefly could fill the memory of a
 * machine of 1 GiB. To prevent this, a process with more than `COLLECT_FROM` bytes of memory requests a collection after each
 * `COLLECT_EVERY` bytes allocated.
 */
const COLLECT_EVERY = 48 * MIB;
const COLLECT_FROM = 300 * MIB;

/** The minimum time between two requested collections. */
const PAUSE_MS = 100;

let allocated = 0;
let isDue = false;

/** Counts bytes that a request has allocated. Starts a collection after each `COLLECT_EVERY` bytes if the process is large. */
export function countAllocated(bytes: number): void {
  allocated += bytes;
  if (allocated < COLLECT_EVERY) return;
  allocated = 0;
  if (process.memoryUsage.rss() > COLLECT_FROM) collectSoon();
}

/** Starts a collection in the background. A collection that the program waits for would block the event loop for up to 100 ms. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  Bun.gc(false);
  setTimeout(() => {
    isDue = false;
  }, PAUSE_MS).unref();
}
