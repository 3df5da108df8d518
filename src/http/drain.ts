import type { ResponseHead } from './http-app.ts';

/** A draining server waits until no new request has arrived for this time, ms. */
const QUIET_MS = 100;
const DRAIN_MS_MAX = 1_000;

/**
 * The state of a server that stops. While the server drains, it answers each request and then closes the connection. Requests that are
 * already in the server's sockets get an answer. Clients then connect to another server.
 */
export type Drain = ReturnType<typeof createDrain>;

/** Creates the state of a server that stops. Callers must call `onRequest` for each request. */
export function createDrain() {
  let isDraining = false;
  let requestedMs = 0;
  return {
    get isDraining() {
      return isDraining;
    },
    /** Records a request. If the server drains, changes the head of the answer so that the connection is closed after the answer. */
    onRequest({ headers }: ResponseHead) {
      if (!isDraining) return;
      requestedMs = performance.now();
      // The runtime closes an HTTP/1.1 connection after an answer with this field. HTTP/2 does not have this field.
      headers.Connection = 'close';
    },
    /** Starts to drain. Resolves when no request has arrived for QUIET_MS, or after DRAIN_MS_MAX. */
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
