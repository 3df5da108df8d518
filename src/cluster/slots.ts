/** Bounds how many pieces of work run at once. Work that has to wait gets its slot in the order of arrival. */
export class Slots {
  readonly #waiting = new Set<(isTaken: boolean) => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with true when a slot is taken, and with false if none becomes free within `ms` milliseconds, or after `close`. */
  async take(ms: number): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    this.#waiting.add(resolve);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    }
  }

  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free += 1;
    else {
      this.#waiting.delete(next);
      next(true);
    }
  }

  /** Ends all waits. */
  close(): void {
    for (const resolve of this.#waiting) resolve(false);
  }
}
