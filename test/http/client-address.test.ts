import { describe, expect, test } from 'bun:test';
import { createClientAddresses, networksOfClient } from '../../src/http/client-address.ts';

const request = (forwarded?: string) =>
  new Request('http://localhost/', forwarded === undefined ? {} : { headers: { 'X-Forwarded-For': forwarded } });

describe('the address of a client', () => {
  test.each([
    ['without a proxy', [], '203.0.113.9 4000', undefined, '203.0.113.9'],
    ['without a trusted proxy, whatever the field says', [], '203.0.113.9 4000', '198.51.100.1', '203.0.113.9'],
    ['from another network than the proxies', ['10.0.0.0/8'], '203.0.113.9 4000', '198.51.100.1', '203.0.113.9'],
    ['behind a trusted proxy', ['10.0.0.0/8'], '10.1.2.3 4000', '198.51.100.1', '198.51.100.1'],
    ['behind two trusted proxies', ['10.0.0.0/8'], '10.1.2.3 1', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['with made-up addresses before', ['10.0.0.0/8'], '10.1.2.3 1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['behind a proxy that sends nothing', ['127.0.0.1'], '127.0.0.1 1', undefined, '127.0.0.1'],
    ['behind a proxy that sends no address', ['127.0.0.1'], '127.0.0.1 1', 'unknown', '127.0.0.1'],
    ['as an IPv6 address of IPv4', [], '::ffff:203.0.113.9 1', undefined, '203.0.113.9'],
    ['with the port of a client', ['10.0.0.0/8'], '10.1.2.3 1', '198.51.100.7:5555', '198.51.100.7'],
    ['with the port of a proxy', ['10.0.0.0/8'], '10.1.2.3 1', '198.51.100.7:5555, 10.9.9.9:80', '198.51.100.7'],
    ['with the port of a client of IPv6', ['10.0.0.0/8'], '10.1.2.3 1', '[2001:db8::7]:5555', '2001:db8::7'],
    ['of IPv6 in brackets', ['10.0.0.0/8'], '10.1.2.3 1', '[2001:db8::7]', '2001:db8::7'],
    ['of IPv4 in IPv6, in brackets', ['10.0.0.0/8'], '10.1.2.3 1', '[::ffff:198.51.100.7]:5555', '198.51.100.7'],
    ['of IPv6 that ends like a port', ['10.0.0.0/8'], '10.1.2.3 1', '2001:db8::7:5555', '2001:db8::7:5555'],
    ['behind a proxy that sends a port alone', ['10.0.0.0/8'], '10.1.2.3 1', ':5555', '10.1.2.3'],
    ['behind a proxy that sends two ports', ['10.0.0.0/8'], '10.1.2.3 1', '198.51.100.7:1:2', '10.1.2.3'],
    ['behind a proxy of IPv6', ['2001:db8::/32'], '2001:db8::1 1', '2001:db9::5', '2001:db9::5'],
  ] as const)('%s', (_, trustedProxies, peer, forwarded, expected) => {
    const { addressOf } = createClientAddresses({ peerOf: () => peer, trustedProxies });
    expect(addressOf(request(forwarded))).toBe(expected);
  });

  test('that is not known', () => {
    expect(createClientAddresses({ peerOf: () => undefined, trustedProxies: [] }).addressOf(request())).toBe('unknown');
  });
});

test.each([
  ['10.1.2.3 1', ['10.0.0.0/8'], true],
  ['::ffff:10.1.2.3 1', ['10.0.0.0/8'], true],
  ['203.0.113.9 1', ['10.0.0.0/8'], false],
  ['10.1.2.3 1', [], false],
  [undefined, ['10.0.0.0/8'], false],
])('a connection from %p comes from one of the proxies %j: %p', (peer, trustedProxies, expected) => {
  const { isFromProxy } = createClientAddresses({ peerOf: () => peer, trustedProxies });
  // The client may have invented the field.
  expect(isFromProxy(request('10.1.2.3'))).toBe(expected);
});

test.each([
  ['203.0.113.9', ['203.0.113.9']],
  ['2001:db8:1:1234:3:4:5:6', ['2001:db8:1:1234::/64', '2001:db8:1:1200::/56', '2001:db8:1::/48']],
  ['2001:0DB8:0001:00ff::6', ['2001:db8:1:ff::/64', '2001:db8:1:0::/56', '2001:db8:1::/48']],
  ['::1', ['0:0:0:0::/64', '0:0:0:0::/56', '0:0:0::/48']],
  ['unknown', ['unknown']],
])('the networks of %s are %j', (address, networks) => expect(networksOfClient(address)).toEqual(networks));
