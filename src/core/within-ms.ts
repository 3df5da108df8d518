/** Resolves with true if `work` completes within `ms` milliseconds, and with false otherwise. */
export function withinMs(ms: number, work: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  return Promise.race([work.then(() => true), promise]).finally(() => clearTimeout(timer));
}
