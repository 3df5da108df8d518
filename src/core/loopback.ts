import { isIPv4 } from 'node:net';

/**
 * Whether a host is this machine's own: `localhost`, `::1` or an address of 127.0.0.0/8. A longer name such as `127.0.0.1.example`, and a
 * malformed address such as `127.999.0.1`, can resolve to any address, so they are not loopback.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (host.startsWith('127.') && isIPv4(host));
}
