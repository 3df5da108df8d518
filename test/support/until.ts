/** Waits for a condition that turns of the event loop bring about. The time limit of the test bounds the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}
