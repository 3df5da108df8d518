import { announceStep } from '../event-loop-watchdog.ts';
import type { Delivery } from '../market/feed.ts';

/** Deliveries that are collected before they are written together: a commit with a sync costs more than writing any one of them. */
const BATCH_DELIVERIES = 64;
/** Prints that are collected at most: a tape has millions. */
const BATCH_PRINTS = 10_000;
/** How long a delivery waits at most for others: a provider delivers a snapshot every few seconds. */
const WAIT_MS = 200;
/** How long a source without waits, such as a file, produces deliveries before requests are served. A single delivery may take longer. */
const TURN_MS = 5;

const LATE = Symbol('late');

/** Groups deliveries, in their order, into batches that are worth a transaction. Gives the event loop its turn between deliveries. */
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
