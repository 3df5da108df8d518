const MIB = 1024 * 1024;

/**
 * The garbage collector lets memory double before it acts: large columns and texts that come and go fast could fill a machine of 1 GiB. So
 * a process that has grown large asks for a collection as bytes add up.
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

/** Begins a collection, which runs beside the program: one that the program waits for holds the event loop for up to 100 ms. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  Bun.gc(false);
  setTimeout(() => {
    isDue = false;
  }, PAUSE_MS).unref();
}
