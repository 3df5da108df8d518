import { expect, test } from 'bun:test';
import { OperatorError } from '../../../src/core/errors.ts';
import { baseUrl } from '../../../src/feeds/http/base-url.ts';

test.each<[string, 'http' | 'ws', string]>([
  ['https://api.tradier.com', 'http', 'https://api.tradier.com'],
  ['https://proxy.example/tradier/', 'http', 'https://proxy.example/tradier'],
  ['http://127.0.0.1:8080', 'http', 'http://127.0.0.1:8080'],
  ['http://localhost:8080/x', 'http', 'http://localhost:8080/x'],
  ['http://[::1]:8080', 'http', 'http://[::1]:8080'],
  ['wss://socket.massive.com/options', 'ws', 'wss://socket.massive.com/options'],
])('%s', (text, scheme, expected) => {
  expect(baseUrl(text, '--url', scheme, true)).toBe(expected);
});

test.each<[string, 'http' | 'ws', RegExp]>([
  ['', 'http', /is not a URL with the scheme http or https/],
  ['api.tradier.com', 'http', /is not a URL with the scheme http or https/],
  ['ftp://api.tradier.com', 'http', /is not a URL with the scheme http or https/],
  ['https://socket.massive.com', 'ws', /is not a URL with the scheme ws or wss/],
  ['https://user:hidden@api.tradier.com', 'http', /contains a user, a password/],
  ['https://api.tradier.com?token=hidden', 'http', /contains a user, a password/],
  ['https://api.tradier.com#hidden', 'http', /contains a user, a password/],
  ['http://api.tradier.com', 'http', /credential unencrypted/],
  ['http://127.0.0.1.example', 'http', /credential unencrypted/],
  ['ws://10.0.0.1/options', 'ws', /credential unencrypted/],
])('refuses %s and does not repeat it', (text, scheme, message) => {
  const attempt = () => baseUrl(text, '--url', scheme, true);
  expect(attempt).toThrow(OperatorError);
  expect(attempt).toThrow(message);
  expect(attempt).not.toThrow(/hidden/);
});

test('allows plain HTTP if there is no credential', () => {
  expect(baseUrl('http://mirror.example', '--url', 'http', false)).toBe('http://mirror.example');
});
