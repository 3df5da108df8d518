import { ptr } from 'bun:ffi';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { openLibc } from '../../core/libc.ts';

/** An open connection that a server of this process has accepted. */
export interface OwnConnection {
  readonly descriptor: number;
  /** The client's address and port, in the form of `peerName`. */
  readonly peer: string;
  /** The network of the client, for limits per address: an IPv4 address, or the first 64 bits of an IPv6 address. */
  readonly address: string;
}

/** Number of descriptors that one step inspects, in less than 2 ms. */
const STEP_DESCRIPTORS = 2_000;

const AF_INET = 2;
const AF_INET6 = 10;
const SHUT_BOTH = 2;
const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const SO_ATTACH_REUSEPORT_CBPF = 51;
/** The opcode of the packet filter instruction that returns a constant. */
const BPF_RETURN = 0x06;
/** Size of a buffer for a socket address, bytes. Every socket address fits into the buffer. */
const ADDRESS_BYTES = 128;
const TEXT_BYTES = 64;

/**
 * Returns access to the sockets of this process, from the operating system, because the runtime does not list them. Returns undefined if the
 * system is not Linux, or if the C library cannot be loaded. All calls must be on the thread of the event loop, which accepts and closes
 * connections, so a descriptor cannot pass to another connection before the next `await`.
 */
export function openOwnSockets() {
  const libc = openLibc({
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    getpeername: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    inet_ntop: { args: ['i32', 'ptr', 'ptr', 'u32'], returns: 'ptr' },
    fcntl: { args: ['i32', 'i32'], returns: 'i32' },
    getsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'ptr'], returns: 'i32' },
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    shutdown: { args: ['i32', 'i32'], returns: 'i32' },
  });
  if (!libc) return undefined;
  const bytes = new Uint8Array(ADDRESS_BYTES);
  const view = new DataView(bytes.buffer);
  const length = new Uint32Array(1);
  const text = new Uint8Array(TEXT_BYTES);

  const reads = (call: typeof libc.getpeername, descriptor: number): boolean => {
    length[0] = ADDRESS_BYTES;
    if (call(descriptor, bytes, length) !== 0) return false;
    const family = view.getUint16(0, true);
    return family === AF_INET || family === AF_INET6;
  };

  const connectionOf = (descriptor: number, port: number): OwnConnection | undefined => {
    // Ports are in network byte order. A listening socket has no client.
    if (!reads(libc.getsockname, descriptor) || view.getUint16(2) !== port) return undefined;
    if (!reads(libc.getpeername, descriptor)) return undefined;
    const peerPort = view.getUint16(2);
    if (view.getUint16(0, true) === AF_INET) {
      const address = bytes.subarray(4, 8).join('.');
      return { descriptor, peer: peerName(address, peerPort), address };
    }
    libc.inet_ntop(AF_INET6, bytes.subarray(8), text, TEXT_BYTES);
    const address = Buffer.from(text.subarray(0, text.indexOf(0))).toString('latin1');
    const mapped = /^::ffff:([\d.]+)$/.exec(address)?.[1];
    const network = mapped ?? `${Buffer.from(bytes.subarray(8, 16)).toString('hex')}/64`;
    return { descriptor, peer: peerName(address, peerPort), address: network };
  };

  /** Yields the results of `read` for the open descriptors, in steps of STEP_DESCRIPTORS. */
  function* readOpen<Found>(read: (descriptor: number) => Found | undefined): Generator<Found[], void> {
    let left = openDescriptors();
    for (let from = 0; left > 0 && from < descriptorsMax(); from += STEP_DESCRIPTORS) {
      const found: Found[] = [];
      for (let descriptor = from; left > 0 && descriptor < from + STEP_DESCRIPTORS; descriptor++) {
        if (libc!.fcntl(descriptor, F_GETFD) < 0) continue;
        left--;
        const each = read(descriptor);
        if (each !== undefined) found.push(each);
      }
      yield found;
    }
  }

  const isListener = (descriptor: number, port: number): boolean => {
    if (!reads(libc.getsockname, descriptor) || view.getUint16(2) !== port) return false;
    const value = new Uint32Array(1);
    length[0] = value.byteLength;
    return libc.getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, value, length) === 0 && value[0] === 1;
  };

  return {
    /** Yields the connections that were accepted on a port. Each step yields the connections of STEP_DESCRIPTORS descriptors. */
    accepted: (port: number) => readOpen((descriptor) => connectionOf(descriptor, port)),
    /** Directs all new connections of a port to the listener at `index` in the kernel's order. Returns false if this is not allowed. */
    steer(port: number, index: number): boolean {
      const [descriptor] = [...readOpen((each) => (isListener(each, port) ? each : undefined))].flat();
      if (descriptor === undefined) return false;
      // struct sock_filter { u16 code; u8 jt, jf; u32 k; } and struct sock_fprog { u16 len; struct sock_filter *filter; }, little-endian
      const filter = new Uint32Array([BPF_RETURN, index]);
      const program = new BigUint64Array([1n, BigInt(ptr(filter))]);
      return libc.setsockopt(descriptor, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, program, program.byteLength) === 0;
    },
    /** Shuts down a connection, whose descriptor the runtime then closes. Does nothing if the descriptor has another connection by now. */
    end({ descriptor, peer }: OwnConnection, port: number) {
      if (connectionOf(descriptor, port)?.peer === peer) libc.shutdown(descriptor, SHUT_BOTH);
    },
  };
}

/** Returns a text that identifies a client by its address and port. */
export function peerName(address: string, port: number): string {
  return `${address} ${port}`;
}

const F_GETFD = 1;

/** Returns the number of open descriptors of this process, or NaN if the system does not report it. */
export function openDescriptors(): number {
  try {
    // Since Linux 6.2, the size of this folder is the number of open descriptors. Reading the size does not need a descriptor.
    return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length - 1;
  } catch (error) {
    // The error EMFILE means that no descriptor is left to read the folder, so the number of open descriptors is the maximum.
    return (error as NodeJS.ErrnoException).code === 'EMFILE' ? descriptorsMax() : Number.NaN;
  }
}

/** Returns the maximum number of open descriptors (`ulimit -n`), or infinity if the system does not report the limit. */
export function descriptorsMax(): number {
  limit ??= readLimit();
  return limit;
}

let limit: number | undefined;
const DESCRIPTORS = '/proc/self/fd';

function readLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
