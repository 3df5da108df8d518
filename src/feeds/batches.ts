import { began } from '../event-loop-watchdog.ts';
import type { Delivery } from '../market/feed.ts';

/** Deliveries kept in memory until they are written together: a synced commit costs more than writing any of them. */
const BATCH_DELIVERIES = 64;
/** But no more prints than this at a time: a tape has millions. */
const BATCH_PRINTS = 10_000;
/** And none waits longer than this for others: a network feed brings a snapshot every few seconds. */
const WAIT_MS = 200;
/** A source that has everything at hand makes deliveries for so long before requests have their turn; one of them may take longer. */
const TURN_MS = 5;

const LATE = Symbol('late');

/** The deliveries in their order, in batches that are worth a transaction. The event loop turns while they are made. */
export async function* batchesOf(deliveries: AsyncIterable<Delivery>): AsyncGenerator<Delivery[], void> {
  const source = deliveries[Symbol.asyncIterator]();
  let batch: Delivery[] = [];
  let prints = 0;
  let late: Promise<typeof LATE> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const take = () => {
    clearTimeout(timer);
    const taken = batch;
    [batch, prints, late] = [[], 0, undefined];
    return taken;
  };
  let turnedAt = performance.now();
  try {
    for (let next = source.next(); ; ) {
      let result: IteratorResult<Delivery> | typeof LATE;
      try {
        result = await (late ? Promise.race([next, late]) : next);
      } catch (error) {
        // What came before a fault is good all the same.
        if (batch.length > 0) yield take();
        throw error;
      }
      if (result === LATE) {
        yield take();
        continue;
      }
      if (result.done) break;
      batch.push(result.value);
      if (result.value.kind === 'prints') prints += result.value.prints.length;
      if (batch.length >= BATCH_DELIVERIES || prints >= BATCH_PRINTS) yield take();
      else {
        late ??= new Promise((resolve) => {
          timer = setTimeout(resolve, WAIT_MS, LATE);
        });
      }
      if (performance.now() - turnedAt > TURN_MS) {
        await new Promise(setImmediate);
        turnedAt = performance.now();
      }
      began('the making of deliveries');
      next = source.next();
    }
    if (batch.length > 0) yield take();
  } finally {
    clearTimeout(timer);
    await source.return?.();
  }
}
