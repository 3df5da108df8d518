import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Delivery } from '../market/feed.ts';

/** Maximum number of deliveries in a batch. A commit syncs the disk, and a sync takes longer than the write of one delivery. */
const BATCH_DELIVERIES = 64;
/** The number of prints in a complete batch. The number is limited, because a batch is in memory and a tape has millions of prints. */
const BATCH_PRINTS = 10_000;
/** Maximum time that a batch waits for further deliveries, ms. A provider delivers only one snapshot every few seconds. */
const WAIT_MS = 200;
/** Maximum time for which a source blocks requests, ms, because a file never waits. A single delivery may take longer. */
const TURN_MS = 5;

const LATE = Symbol('late');

/** Groups deliveries into batches, also those before an error of the source. Serves requests after each TURN_MS. */
export async function* batchesOf(deliveries: AsyncIterable<Delivery>): AsyncGenerator<Delivery[], void> {
  const source = deliveries[Symbol.asyncIterator]();
  let batch: Delivery[] = [];
  let prints = 0;
  let late: Promise<typeof LATE> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const takeBatch = () => {
    clearTimeout(timer);
    const complete = batch;
    [batch, prints, late] = [[], 0, undefined];
    return complete;
  };
  let yieldedAt = performance.now();
  try {
    for (let next = source.next(); ; ) {
      let result: IteratorResult<Delivery> | typeof LATE;
      try {
        result = await (late ? Promise.race([next, late]) : next);
      } catch (error) {
        // Deliveries before an error are valid.
        if (batch.length > 0) yield takeBatch();
        throw error;
      }
      if (result === LATE) {
        yield takeBatch();
        continue;
      }
      if (result.done) break;
      batch.push(result.value);
      if (result.value.kind === 'prints') prints += result.value.prints.length;
      if (batch.length >= BATCH_DELIVERIES || prints >= BATCH_PRINTS) yield takeBatch();
      else {
        late ??= new Promise((resolve) => {
          timer = setTimeout(resolve, WAIT_MS, LATE);
        });
      }
      if (performance.now() - yieldedAt > TURN_MS) {
        await new Promise(setImmediate);
        yieldedAt = performance.now();
      }
      announceStep('making deliveries');
      next = source.next();
    }
    if (batch.length > 0) yield takeBatch();
  } finally {
    clearTimeout(timer);
    await source.return?.();
  }
}
