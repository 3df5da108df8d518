import type { ResponseHead } from './http-app.ts';

/** A draining server counts as quiet after this time without a new request, ms. */
const QUIET_MS = 100;
/** Longest time for which a draining server still accepts requests, ms. */
const DRAIN_MS_MAX = 1_000;

/**
 * The state of a stopping server. While the server drains, it answers each request and then closes the connection. So requests that are
 * already in its sockets are answered, and clients move to another server.
 */
export type Drain = ReturnType<typeof createDrain>;

/** Creates the state of a stopping server. Call `onRequest` for each request. */
export function createDrain() {
  let isDraining = false;
  let requestedMs = 0;
  return {
    get isDraining() {
      return isDraining;
    },
    /** Records a request. If the server drains, changes the head of the answer so that the connection closes after the answer. */
    onRequest({ headers }: ResponseHead) {
      if (!isDraining) return;
      requestedMs = performance.now();
      // The runtime closes a connection of HTTP/1.1 after an answer with this field. HTTP/2 does not have this field.
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
