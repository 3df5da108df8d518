import type { Delivery } from '../market/feed.ts';

/** Deliveries kept in memory until one transaction takes them: a synced commit costs more than writing any of them. */
const BATCH_DELIVERIES = 64;
/** But no more prints than this at a time: a tape has millions, and requests wait for the transaction. */
const BATCH_PRINTS = 10_000;
/** And none waits longer than this for others: a network feed brings a snapshot every few seconds. */
const WAIT_MS = 200;

const LATE = Symbol('late');

/** The deliveries in their order, in pieces of one transaction each. */
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
      next = source.next();
    }
    if (batch.length > 0) yield take();
  } finally {
    clearTimeout(timer);
    await source.return?.();
  }
}
