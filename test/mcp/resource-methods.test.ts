import { beforeAll, expect, test } from 'bun:test';
import { runToCompletion } from '../../src/core/steps.ts';
import { RESOURCE_METHODS } from '../../src/mcp/resource-methods.ts';
import { PAGE_CHARS_MAX } from '../../src/mcp/resource-pages.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { TICKER_RESOURCES } from '../../src/mcp/ticker-resources.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';

const service = serviceForTests();
beforeAll(() => computeLevels(service));

const read = (uri: string): string => {
  const [content] = runToCompletion(RESOURCES.read(uri, service.app.context)).contents;
  return (content as { text: string }).text;
};

test('the list names every resource of a ticker with its queries, and a text on its fields', () => {
  const list = read('zomma://methods/read_resource');
  for (const [which, { uriTemplate, description }] of Object.entries(TICKER_RESOURCES))
    expect(list).toContain(`- ${uriTemplate}: ${description} Fields: zomma://methods/${which}\n`.trimEnd());
  expect(read('zomma://methods')).toContain('zomma://methods/read_resource');
});

test.each(Object.entries(TICKER_RESOURCES))('the text on %s fits on a page and has every column', (which, form) => {
  const text = read(`zomma://methods/${which}`);
  expect(text.length).toBeLessThanOrEqual(PAGE_CHARS_MAX);
  const uri = form.uriTemplate
    .replace('{ticker}', 'SPY')
    .replace('{expiry}', which === 'quotes' ? '2099-01-01' : 'all');
  if (which === 'quotes') return;
  const answer = JSON.parse(read(uri)) as Record<string, unknown>;
  const columns =
    form.tables.length === 0
      ? ['net_vex_mil', 'net_cex_mil']
      : Object.keys(answer).filter((key) => Array.isArray(answer[key]));
  for (const column of columns) expect(text).toMatch(new RegExp(`^- (?:\\w+\\.)*${column}: .{5,}`, 'm'));
});

test('an unknown name gets the nearest ones', () => {
  expect(() => read('zomma://methods/expirys')).toThrow(/zomma:\/\/methods\/expiries/);
  expect(RESOURCE_METHODS.size).toBe(Object.keys(TICKER_RESOURCES).length + 1);
});
