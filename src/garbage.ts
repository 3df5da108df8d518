const MIB = 1024 * 1024;

/**
 * The garbage collector lets memory double before it acts, and more while it works beside the program: large columns and texts that come
 * and go fast could fill a small machine. After so many bytes of them it is made to collect, which takes some 20 ms.
 */
const COLLECT_EVERY = 48 * MIB;

let allocated = 0;
let isDue = false;

/** Counts bytes that were allocated for the work of one request, and collects garbage when they add up. */
export function countAllocated(bytes: number): void {
  allocated += bytes;
  if (allocated < COLLECT_EVERY || isDue) return;
  isDue = true;
  // Later: what the caller has in hand is no garbage yet.
  setImmediate(() => {
    isDue = false;
    allocated = 0;
    Bun.gc(true);
  });
}
