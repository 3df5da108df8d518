import { openOwnSockets } from './own-sockets.ts';

/**
 * Directs the new connections of a port to the newest listener. When a listener closes, it closes idle connections and resets connections
 * that it has not yet accepted. With steering, an older listener gets no new connections, and can stay open for its present connections.
 */
export function createPortSteering(port: number) {
  const sockets = openOwnSockets();
  /** The numbers of the listeners, in the kernel's order. A newer listener has a higher number. */
  const order: number[] = [];
  let added = 0;
  // A single listener gets all connections, so it needs no filter.
  const steer = () => order.length === 1 || (sockets?.steer(port, order.indexOf(Math.max(...order))) ?? false);
  return {
    /** Adds a listener that gets all new connections. Returns false if the system cannot steer, and distributes them over all. */
    add() {
      order.push(added++);
      return steer();
    },
    removeOldest() {
      // When a listener is closed, the kernel moves the last listener to the position of the closed listener.
      const i = order.indexOf(Math.min(...order));
      const last = order.pop()!;
      if (i < order.length) order[i] = last;
      steer();
    },
  };
}
