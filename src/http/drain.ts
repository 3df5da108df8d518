import type { ResponseHead } from './http-app.ts';

/** Time without a new request after which a draining server is taken to be quiet, ms. */
const QUIET_MS = 100;
/** Longest time for which a draining server still accepts requests, ms. */
const DRAIN_MS_MAX = 1_000;

/**
 * The state of a server that stops. While it drains, it still answers every request, and closes the connection after the answer. So
 * requests that already lie in its sockets are answered, and clients move to another server.
 */
export type Drain = ReturnType<typeof createDrain>;

/** Creates the state of a server that stops. `onRequest` is called for each request, with the head of its answer. */
export function createDrain() {
  let isDraining = false;
  let requestedMs = 0;
  return {
    get isDraining() {
      return isDraining;
    },
    /** Records a request, and closes its connection after the answer if the server drains. Takes the head of the answer. */
    onRequest({ headers }: ResponseHead) {
      if (!isDraining) return;
      requestedMs = performance.now();
      // The runtime closes a connection of HTTP/1.1 after an answer with this field. HTTP/2 does not know the field.
      headers.Connection = 'close';
    },
    /** Begins to drain. Resolves when no request has arrived for QUIET_MS, or after DRAIN_MS_MAX. */
    async begin() {
      isDraining = true;
      const beganMs = performance.now();
      requestedMs = beganMs;
      for (;;) {
        const nowMs = performance.now();
        if (nowMs - requestedMs >= QUIET_MS || nowMs - beganMs >= DRAIN_MS_MAX) return;
        await Bun.sleep(QUIET_MS / 4);
      }
    },
  };
}
