import { isIPv4 } from 'node:net';

/**
 * Returns whether a host is this machine: `localhost`, `::1` or an address of 127.0.0.0/8. The name `127.0.0.1.example` and the malformed
 * address `127.999.0.1` are not loopback, because both can resolve to any address.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (host.startsWith('127.') && isIPv4(host));
}
