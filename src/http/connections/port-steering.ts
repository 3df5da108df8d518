import { openOwnSockets } from './own-sockets.ts';

/**
 * Steers the new connections of a port to the newest listener. A listener that is closed resets connections that wait to be accepted, and
 * closes idle ones. With the steering, an older listener gets no more of them, and can stay open for those that it has.
 */
export function createPortSteering(port: number) {
  const sockets = openOwnSockets();
  /** The listeners in the order in which the kernel counts them, by the number that they were added with. */
  const order: number[] = [];
  let added = 0;
  // A single listener gets all connections without a filter.
  const steer = () => order.length === 1 || (sockets?.steer(port, order.indexOf(Math.max(...order))) ?? false);
  return {
    /**
     * Records one more listener, and lets it get all new connections from now on. Returns false if the system cannot be told so. The
     * connections are then distributed over all listeners.
     */
    add() {
      order.push(added++);
      return steer();
    },
    /** Records that the oldest listener was closed. */
    removeOldest() {
      // The kernel puts the last listener in the place of the one that was closed.
      const i = order.indexOf(Math.min(...order));
      const last = order.pop()!;
      if (i < order.length) order[i] = last;
      steer();
    },
  };
}
