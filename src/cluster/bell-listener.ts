import type { SQL } from 'bun';

/** What a listener gets from the engine. */
interface BellDeps {
  /** Opens a client at the primary. Rejects if there is no primary. */
  open(onclose: () => void): Promise<SQL>;
  /** Sends a notification through another connection. Rejects if it cannot. */
  notify(channel: string): Promise<void>;
  /** The interval of the heartbeat, and the time that its notification may take, ms. */
  readonly beatMs: number;
  readonly beatMaxMs: number;
  /** The pause before the next connection, ms. */
  readonly pauseMs: number;
}

/**
 * Listens for notifications of the primary, with a connection of its own. A connection of which one end has gone stays silent for a minute or
 * longer, so a notification to itself must come back at each heartbeat: otherwise the connection is replaced.
 */
export class BellListener implements Disposable {
  readonly #deps: BellDeps;
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #beatChannel = `zomma_beat_${crypto.randomUUID().replaceAll('-', '')}`;
  #replace = () => {};
  #isRunning = false;
  #isDisposed = false;

  constructor(deps: BellDeps) {
    this.#deps = deps;
  }

  /** Calls the listener at each notification of the channel, and after each new connection, because notifications may have been lost. */
  add(channel: string, listener: () => void): Disposable {
    const listeners = this.#listeners.get(channel) ?? new Set();
    // One function can listen several times.
    const ring = () => listener();
    this.#listeners.set(channel, listeners.add(ring));
    if (!this.#isRunning) this.#run();
    // The connection listens to the channels that it knew when it was opened.
    else if (listeners.size === 1) this.#replace();
    return {
      [Symbol.dispose]: () => {
        if (!listeners.delete(ring) || listeners.size > 0) return;
        this.#listeners.delete(channel);
        if (this.#listeners.size === 0) this.#replace();
      },
    };
  }

  /** Replaces the connection. */
  restart(): void {
    this.#replace();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#replace();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (!this.#isDisposed && this.#listeners.size > 0) {
      // The engine states why it has no primary. The pause is that of the engine.
      await this.#listenOnce().catch(() => {});
      if (!this.#isDisposed && this.#listeners.size > 0) await sleep(this.#deps.pauseMs);
    }
    this.#isRunning = false;
  }

  /** Listens until the connection ends or misses a heartbeat. */
  async #listenOnce(): Promise<void> {
    const { promise: ended, resolve } = Promise.withResolvers<false>();
    const end = () => resolve(false);
    this.#replace = end;
    const client = await this.#deps.open(end);
    try {
      let beaten = () => {};
      const channels = [...this.#listeners.keys()];
      const subscribed = Promise.all([
        client.listen(this.#beatChannel, () => beaten()),
        ...channels.map((channel) => client.listen(channel, () => this.#ring(channel))),
      ]);
      if (!(await this.#inTime(subscribed, ended))) return;
      for (const channel of channels) this.#ring(channel);
      for (;;) {
        if (!(await Promise.race([sleep(this.#deps.beatMs).then(() => true), ended]))) return;
        const { promise: beat, resolve: onBeat } = Promise.withResolvers<void>();
        beaten = onBeat;
        if (!(await this.#inTime(Promise.all([this.#deps.notify(this.#beatChannel), beat]), ended))) return;
      }
    } finally {
      client.close({ timeout: 0 }).catch(() => {});
    }
  }

  /** Resolves with whether work completes in the time of a heartbeat, before the connection ends. */
  #inTime(work: Promise<unknown>, ended: Promise<false>): Promise<boolean> {
    return Promise.race([work.then(() => true), sleep(this.#deps.beatMaxMs).then(() => false), ended]);
  }

  #ring(channel: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener();
  }
}

/** Resolves after a time. The wait does not keep the process alive. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
