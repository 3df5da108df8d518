const MIB = 1024 * 1024;

/**
 * The garbage collector runs only after memory has doubled, so short-lived columns and texts could fill a machine with 1 GiB. A process
 * above `COLLECT_FROM` bytes therefore requests a collection for every `COLLECT_EVERY` allocated bytes.
 */
const COLLECT_EVERY = 48 * MIB;
const COLLECT_FROM = 300 * MIB;

const PAUSE_MS = 100;

let allocated = 0;
let isDue = false;

/** Counts bytes that a request has allocated. In a large process, starts a collection for every `COLLECT_EVERY` bytes. */
export function countAllocated(bytes: number): void {
  allocated += bytes;
  if (allocated < COLLECT_EVERY) return;
  allocated = 0;
  if (process.memoryUsage.rss() > COLLECT_FROM) collectSoon();
}

/** Starts a collection in the background. A collection in the foreground would block the event loop for up to 100 ms. */
export function collectSoon(): void {
  if (isDue) return;
  isDue = true;
  Bun.gc(false);
  setTimeout(() => {
    isDue = false;
  }, PAUSE_MS).unref();
}
