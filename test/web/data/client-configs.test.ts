import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { files } from '../../../build/web/manifest.js';
import { clientConfigs } from '../../../scripts/client-configs.ts';
import { filledConfig, KEY_PLACEHOLDER } from '../../../web/data/client-configs.ts';

const page = readFileSync(join(import.meta.dir, '../../../docs/clients.md'), 'utf8');
const configs = clientConfigs(page);

describe('the configurations of the page', () => {
  test('the page gets those of docs/clients.md', async () => {
    expect(await Bun.file(files.find(({ name }) => name.startsWith('clients-'))!.plain).json()).toEqual(configs);
  });

  test('are all code blocks of docs/clients.md, in their order', () => {
    const blocks = [...page.matchAll(/^```(json|sh|ts)\n([\s\S]*?)\n```$/gm)].map(([, language, text]) => ({
      language,
      text,
    }));
    expect(blocks.length).toBeGreaterThan(10);
    expect(configs.map(({ language, text }) => ({ language, text }))).toEqual(blocks as never);
    expect([...new Set(configs.map(({ section }) => section))]).toEqual([
      'One command',
      'Settings files',
      'The inspector',
      'Programs',
    ]);
  });

  test('each says for whom it is, in words of the page', () => {
    for (const { purpose } of configs) {
      expect(purpose).toMatch(/^(?:For|With|Some|The) .*\.$/);
      expect(page.replaceAll('\n', ' ')).toContain(purpose.slice(0, -1));
    }
  });

  test.each(configs.filter(({ language }) => language === 'json').map(({ text }) => [text]))(
    'a settings file stays JSON with another address and a key: %s',
    (text) => {
      const filled = filledConfig(text, 'https://zomma.example:8443', 'ZOMMA_ABCDEFGH12345678');
      expect(() => JSON.parse(filled)).not.toThrow();
      expect(filled).not.toContain('127.0.0.1');
      expect(filled).not.toContain(KEY_PLACEHOLDER);
    },
  );
});

test('without a key the placeholder stays, and nothing in a key or an address is a pattern', () => {
  const text = `curl -H 'X-API-Key: ${KEY_PLACEHOLDER}' http://127.0.0.1:8080/sse`;
  expect(filledConfig(text, 'http://h')).toBe(`curl -H 'X-API-Key: ${KEY_PLACEHOLDER}' http://h/sse`);
  expect(filledConfig(text, 'http://$&', '$1')).toBe("curl -H 'X-API-Key: $1' http://$&/sse");
});
