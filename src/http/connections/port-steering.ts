import { ptr } from 'bun:ffi';
import { openLibc } from '../../core/libc.ts';
import { openOwnSockets } from './own-sockets.ts';

const SOL_SOCKET = 1;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** The instruction of a packet filter that returns a constant. */
const BPF_RETURN = 0x06;

/** Several listeners of this process on one port, of which one gets all new connections. */
export interface PortSteering {
  /**
   * Records one more listener, and lets it get all new connections from now on. Returns false if the system cannot be told so. The
   * connections are then distributed over all listeners.
   */
  add(): boolean;
  /** Records that the oldest listener was closed. */
  removeOldest(): void;
}

/**
 * Steers the new connections of a port to the newest listener. A listener that is closed resets connections that wait to be accepted, and
 * closes idle ones. With the steering, an older listener gets no more of them, and can stay open for those that it has.
 */
export function createPortSteering(port: number): PortSteering {
  const libc = openLibc({ setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' } });
  const sockets = openOwnSockets();
  /** The listeners in the order in which the kernel counts them, by the number that they were added with. */
  const order: number[] = [];
  let added = 0;

  const steer = (): boolean => {
    const descriptor = sockets?.listener(port);
    if (!libc || descriptor === undefined) return false;
    // struct sock_filter { u16 code; u8 jt, jf; u32 k; } and struct sock_fprog { u16 len; struct sock_filter *filter; }
    const filter = new DataView(new ArrayBuffer(8));
    filter.setUint16(0, BPF_RETURN, true);
    filter.setUint32(4, order.indexOf(Math.max(...order)), true);
    const program = new DataView(new ArrayBuffer(16));
    program.setUint16(0, 1, true);
    program.setBigUint64(8, BigInt(ptr(filter)), true);
    return (
      libc.setsockopt(
        descriptor,
        SOL_SOCKET,
        SO_ATTACH_REUSEPORT_CBPF,
        new Uint8Array(program.buffer),
        program.byteLength,
      ) === 0
    );
  };

  return {
    add() {
      order.push(added++);
      return order.length === 1 || steer();
    },
    removeOldest() {
      // The kernel puts the last listener in the place of the one that was closed.
      const i = order.indexOf(Math.min(...order));
      const last = order.pop()!;
      if (i < order.length) order[i] = last;
      if (order.length > 1) steer();
    },
  };
}
