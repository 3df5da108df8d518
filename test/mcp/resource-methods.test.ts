import { beforeAll, describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../src/core/steps.ts';
import { READ_RESOURCE } from '../../src/mcp/read-resource.ts';
import { RESOURCE_METHODS } from '../../src/mcp/resource-methods.ts';
import { PAGE_CHARS_MAX } from '../../src/mcp/resource-pages.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { TICKER_RESOURCES } from '../../src/mcp/ticker-resources.ts';
import type { Context } from '../../src/operations/engine/operation.ts';
import { AS_OF, chainOf, EXPIRY, LATER, print, quoted, range } from '../analytics/small-chains.ts';
import { smallMarket } from '../operations/small-market.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { savePast } from '../support/record-levels.ts';
import { computeLevels } from '../support/service.ts';

const service = serviceForTests();
beforeAll(() => computeLevels(service));

const read = (uri: string, context: Context = service.app.context): string => {
  const [content] = runToCompletion(RESOURCES.read(uri, context)).contents;
  return (content as { text: string }).text;
};

test('the list names every resource of a ticker with its queries, and a text on its fields', () => {
  const list = read('zomma://methods/read_resource');
  for (const [which, { uriTemplate, description }] of Object.entries(TICKER_RESOURCES))
    expect(list).toContain(`- ${uriTemplate}: ${description} Fields: zomma://methods/${which}\n`.trimEnd());
  expect(read('zomma://methods')).toContain('zomma://methods/read_resource');
});

test('the tool that reads resources names each of them', () => {
  const named = READ_RESOURCE.description!.match(/zomma:\/\/gex\/\{ticker\} \(.*?Queries/)![0];
  for (const { uriTemplate } of Object.values(TICKER_RESOURCES)) {
    const [, , , , segment] = uriTemplate.split('/');
    if (segment) expect(named).toMatch(new RegExp(`[ ,]${segment}[ ,/]`));
  }
});

describe('the text on a resource', () => {
  const chain = chainOf([
    ...quoted({ strikes: range(80, 120), rest: { openInterest: 100 } }),
    ...quoted({ strikes: range(80, 120), expiry: LATER, rest: { openInterest: 50 } }),
  ]);
  const { context, store } = smallMarket({ prints: [print({ side: 'ask' })] }, AS_OF);
  beforeAll(() => savePast(store, chain));

  test.each(Object.entries(TICKER_RESOURCES))(
    'on %s fits on a page, and its fields are those of the answer',
    (which, form) => {
      const text = read(`zomma://methods/${which}`);
      expect(text.length).toBeLessThanOrEqual(PAGE_CHARS_MAX);
      const uri = form.uriTemplate.replace('{ticker}', 'ACME').replace('{expiry}', EXPIRY);
      const query = which === 'matrix' ? '?near=5' : '';
      const { page: _, provenance: __, ...answer } = JSON.parse(read(uri + query, context)) as Body;
      const listed = [...text.matchAll(/^- ([\w.]+): .{5,}$/gm)].map(([, path]) => path!);
      const shown = pathsOf(answer);
      expect(listed.filter((path) => !shown.has(path) && !isEmpty(answer, path) && !ONLY_AT_TIMES.has(path))).toEqual(
        [],
      );
      // Several objects of an answer have the same fields, which the text explains once. `page` explains the count of rows.
      const explained = new Set([...listed.map(lastOf), 'count']);
      expect([...shown].filter((path) => !explained.has(lastOf(path)))).toEqual([]);
    },
  );
});

type Body = Record<string, unknown>;

/** Fields that the answer has only in some cases: if rows are left out, and if an expiry has two roots. */
const ONLY_AT_TIMES: ReadonlySet<string> = new Set(['downsampled_from', 'root']);

const lastOf = (path: string) => path.split('.').at(-1)!;

/** The paths of all fields, also those of the rows of a list. */
function pathsOf(value: unknown, prefix = ''): Set<string> {
  const entries = Array.isArray(value)
    ? value.filter((each) => each && typeof each === 'object').map((each) => ['', each] as const)
    : Object.entries(value as object).map(([name, each]) => [name, each] as const);
  const paths = entries.flatMap(([name, each]) => {
    const path = name === '' ? prefix : prefix === '' ? name : `${prefix}.${name}`;
    const own = name === '' ? [] : [path];
    return [...own, ...(each && typeof each === 'object' ? pathsOf(each, path) : [])];
  });
  return new Set(paths);
}

/** Whether the object that should have a field is null, or a table without rows on the page. */
function isEmpty(answer: Body, path: string): boolean {
  const [first, ...rest] = path.split('.');
  if (rest.length === 0) return false;
  const inner = answer[first!] as (Body & { count?: number }) | null | undefined;
  return inner === undefined ? false : inner === null || inner.count === 0 || isEmpty(inner, rest.join('.'));
}

test('an unknown name gets the nearest ones', () => {
  expect(() => read('zomma://methods/expirys')).toThrow(/zomma:\/\/methods\/expiries/);
  expect(RESOURCE_METHODS.size).toBe(Object.keys(TICKER_RESOURCES).length + 1);
});
