import { openLibc } from '../../src/core/libc.ts';
import { socketAddress } from '../../src/ops/service-manager.ts';

/** A datagram socket of Unix that receives, as systemd has one at NOTIFY_SOCKET. */
export interface DatagramSocket extends Disposable {
  /** The messages that have arrived so far, in order. */
  received(): readonly string[];
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;

/** Opens a socket at a path, or at a name that begins with `@`. Throws if the system refuses it. */
export function openDatagramSocket(name: string): DatagramSocket {
  const libc = openLibc({
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    bind: { args: ['i32', 'ptr', 'u32'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
  });
  if (!libc) throw new Error('this system has no C library that the runtime can call');
  const descriptor = libc.socket(AF_UNIX, SOCK_DGRAM, 0);
  const address = socketAddress(name)!;
  if (libc.bind(descriptor, address, address.byteLength) !== 0) throw new Error(`cannot bind ${name}`);
  const messages: string[] = [];
  const buffer = Buffer.alloc(4_096);
  const received = () => {
    for (;;) {
      const length = Number(libc.recv(descriptor, buffer, buffer.byteLength, MSG_DONTWAIT));
      if (length < 0) return messages;
      messages.push(buffer.subarray(0, length).toString());
    }
  };
  // The system holds ten messages of a socket and refuses further ones, so the socket is read while a test waits for something else.
  const reading = setInterval(received, 10);
  return {
    received,
    [Symbol.dispose]() {
      clearInterval(reading);
      libc.close(descriptor);
    },
  };
}
