import { expect, test } from 'bun:test';
import { createProgram } from '../../src/cli/program.ts';
import type { Ports } from '../../src/server/cli-ports.ts';

/** Runs `zomma mcp` with a bridge that only takes down where it would connect. Returns the address, or the message of the error. */
async function bridgedTo(...args: string[]): Promise<string> {
  let address = 'none';
  const ports = {
    async bridge({ url }: { url: URL }) {
      address = url.href;
    },
  } as Ports;
  const program = await createProgram(ports, 'mcp');
  try {
    await program.parseAsync(['bun', 'zomma', 'mcp', '--key', 'ZOMMA_0123456789ABCDEF', ...args]);
    return address;
  } catch (error) {
    return (error as Error).message;
  }
}

const REFUSED = 'the API key would cross the network in the clear';

test.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
  ['http://localhost:8080', 'http://localhost:8080/'],
  ['http://[::1]:8080', 'http://[::1]:8080/'],
  ['http://127.1/zomma', 'http://127.0.0.1/zomma'],
  ['https://zomma.example.com', 'https://zomma.example.com/'],
  ['http://zomma.example.com', REFUSED],
  ['http://192.0.2.1:8080', REFUSED],
  ['http://[2001:db8::1]', REFUSED],
  ['http://[::ffff:192.0.2.1]', REFUSED],
  ['http://127.0.0.1.example.com', REFUSED],
  ['http://localhost.example.com', REFUSED],
  ['http://127.0.0.1@example.com', REFUSED],
  ['HTTP://EXAMPLE.COM', REFUSED],
])('the key is sent to %s only if nobody can read it on the way', async (url, expected) => {
  const outcome = await bridgedTo('--url', url);
  expect(outcome).toStartWith(expected);
  if (expected !== REFUSED) return;
  expect(outcome).toContain('is plain HTTP and not this machine');
  expect(await bridgedTo('--insecure-http', '--url', url)).toBe(new URL(url).href);
});
