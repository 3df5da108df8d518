import { BlockList, isIP } from 'node:net';

/** Returns the address of the client that sent a request. Returns `unknown` if the address is not known. */
export type AddressOf = (request: Request) => string;

export interface AddressDeps {
  /** Returns the client's address and port from a request's connection, separated by a space. */
  readonly peerOf: (request: Request) => string | undefined;
  /** Networks of trusted proxies, such as `10.0.0.0/8`. The server trusts the `X-Forwarded-For` field of these proxies. */
  readonly trustedProxies: readonly string[];
}

/**
 * Creates the functions that tell who sent a request. `X-Forwarded-For` counts only if the connection comes from a trusted proxy. The
 * client's address is then the last address in the field that is not a trusted proxy. The client may have invented all earlier addresses.
 */
export function createClientAddresses({ peerOf, trustedProxies }: AddressDeps) {
  const trusted = blockListOf(trustedProxies);
  const isTrusted = (address: string) => contains(trusted, address);
  const addressOfPeer = (peer: string) => plainAddress(peer.slice(0, peer.lastIndexOf(' ')));
  return {
    addressOf(request: Request): string {
      const peer = peerOf(request);
      if (peer === undefined) return 'unknown';
      const address = addressOfPeer(peer);
      if (trustedProxies.length === 0 || !isTrusted(address)) return address;
      const forwarded = (request.headers.get('x-forwarded-for') ?? '')
        .split(',')
        .map((each) => plainAddress(withoutPort(each.trim())));
      const client = forwarded.findLast((each) => !isTrusted(each));
      return client !== undefined && isIP(client) ? client : address;
    },
    isFromProxy(request: Request): boolean {
      const peer = trustedProxies.length === 0 ? undefined : peerOf(request);
      return peer !== undefined && isTrusted(addressOfPeer(peer));
    },
  };
}

/**
 * Returns the networks of one client, the smallest network first: an IPv4 address, or the first 64, 56 and 48 bits of an IPv6 address. A
 * provider assigns 48 to 64 bits to one customer, who is free to use all addresses within.
 */
export function networksOfClient(address: string): readonly string[] {
  if (isIP(address) !== 6) return [address];
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const last = tail?.split(':').filter(Boolean) ?? [];
  while (tail !== undefined && groups.length + last.length < 8) groups.push('0');
  const [a, b, c, d = '0'] = [...groups, ...last].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
  const block = `${a}:${b}:${c}`;
  return [`${block}:${d}::/64`, `${block}:${(Number.parseInt(d, 16) & 0xff00).toString(16)}::/56`, `${block}::/48`];
}

/** Returns a block list of networks. Each network is a single address, or an address with a prefix length. */
export function blockListOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of networks) {
    const [address = '', bits] = each.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

export function contains(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Returns the plain IPv4 address if the system reports an IPv4 address in IPv6 form (`::ffff:`). */
function plainAddress(address: string): string {
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}

/** Removes a port, which some proxies append to the address: `198.51.100.7:5555`, `[2001:db8::7]:5555`. */
function withoutPort(address: string): string {
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? [];
  return inBrackets ?? plain ?? address;
}
