import { describe, expect, test } from 'bun:test';
import { PAGE_MAX } from '../../../src/operations/engine/pages.ts';
import { detectLethalNodes } from '../../../src/operations/gex/lethal-nodes.ts';
import { AS_OF, chainOf, EXPIRY, quoted, range } from '../../analytics/small-chains.ts';
import { call, callExtended, refusalOf, smallMarket } from '../small-market.ts';

/** 21 strikes of calls and puts. Every contract has a different open interest. */
const chainAt = (asOf: number, most = 300) =>
  chainOf(
    quoted({ strikes: range(90, 110) }).map((row) => ({
      ...row,
      openInterest: row.callPut === 1 ? row.strike : most - row.strike,
    })),
    { asOf },
  );
const NODES = 42;

interface Page {
  readonly top_nodes: unknown[];
  readonly next_cursor?: string;
}

const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
const ask = (args: object, of = context) => call(detectLethalNodes, { ticker: 'ACME', ...args }, of) as unknown as Page;
const whole = ask({ limit: PAGE_MAX });

describe('pages', () => {
  test('a request with only a ticker returns ten nodes and no cursor', () => {
    expect(Object.keys(ask({}))).toEqual(['top_nodes']);
    expect(ask({}).top_nodes).toEqual(whole.top_nodes.slice(0, 10));
  });

  test.each([
    ['a limit below the count', { limit: 7 }, 7],
    ['a limit of one less than the count', { limit: NODES - 1 }, NODES - 1],
  ])('%s has a further page', (_what, args, count) => {
    const page = ask(args);
    expect(page.top_nodes).toEqual(whole.top_nodes.slice(0, count));
    expect(page.next_cursor).toBeString();
  });

  test.each([
    ['a limit equal to the count', { limit: NODES }],
    ['a limit above the count', { limit: PAGE_MAX }],
  ])('%s returns everything', (_what, args) => {
    expect(Object.keys(ask(args))).toEqual(['top_nodes']);
    expect(ask(args).top_nodes).toHaveLength(NODES);
  });

  test.each([[{ limit: 9 }], [{ limit: 41 }], [{ limit: 1 }]])('pages of %j add up to the whole list', (first) => {
    expect(pagesFrom(ask(first), first)).toEqual(whole.top_nodes);
  });

  test('a cursor without a limit returns ten nodes', () => {
    const { next_cursor } = ask({ limit: 5 });
    expect(ask({ cursor: next_cursor }).top_nodes).toEqual(whole.top_nodes.slice(5, 15));
  });

  test('the extended answer also has pages, with the components of each node', () => {
    const first = callExtended(detectLethalNodes, { ticker: 'ACME', limit: 3 }, context);
    const second = callExtended(detectLethalNodes, { ticker: 'ACME', cursor: first.next_cursor, limit: 3 }, context);
    expect(second.top_nodes).toEqual(whole.top_nodes.slice(3, 6));
    expect(second.components).toHaveLength(3);
    expect('next_cursor' in callExtended(detectLethalNodes, { ticker: 'ACME' }, context)).toBe(false);
  });

  test('pages stay on the snapshot of the first page, even if newer data arrives', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
    const first = ask({ limit: 20 }, context);
    store.saveChain(chainAt(AS_OF + 60_000, 900));
    expect(ask({}, context).top_nodes).not.toEqual(whole.top_nodes.slice(0, 10));
    expect(pagesFrom(first, { limit: 20 }, context)).toEqual(whole.top_nodes);
  });
});

describe('rejects a cursor', () => {
  const { next_cursor } = ask({ limit: 1 });
  store.saveChain({ ...chainAt(AS_OF), underlying: 'SPY' });

  test.each([
    ['of invalid form', { cursor: 'more' }],
    ['that is empty', { cursor: '' }],
    ['with a row beyond any list', { cursor: `ACME~${AS_OF}~1e9` }],
    ['of another ticker', { ticker: 'SPY', cursor: next_cursor }],
    ['of all expiries for one expiry', { expiry: EXPIRY, cursor: next_cursor }],
    ['of one expiry for all', { cursor: ask({ limit: 1, expiry: EXPIRY }).next_cursor }],
    ['of a snapshot that is not stored', { cursor: `ACME~${AS_OF - 1}~10` }],
    ['of a future moment', { cursor: `ACME~${AS_OF + 1}~10` }],
    ['of the largest possible moment', { cursor: 'ACME~9999999999999~10' }],
  ])('%s', (_what, args) => {
    const refusal = refusalOf(() => ask(args));
    expect(refusal).toMatchObject({ code: 'invalid_body', fields: ['/cursor'] });
    expect(refusal.message).toStartWith('/cursor must b');
    expect(refusal.hint).toContain('without cursor');
  });

  test('for an untracked ticker, with the error of that ticker', () => {
    expect(refusalOf(() => ask({ ticker: 'ZZZZ', cursor: next_cursor })).code).toBe('unknown_ticker');
  });

  test.each([0, -1, 1.5, PAGE_MAX + 1, '10', null])('rejects the limit %j', (limit) => {
    expect(refusalOf(() => ask({ limit }))).toMatchObject({ code: 'invalid_body', fields: ['/limit'] });
  });
});

/** The nodes of a page and of all following pages. */
function pagesFrom(page: Page, args: object, of = context): unknown[] {
  if (page.next_cursor === undefined) return page.top_nodes;
  return [...page.top_nodes, ...pagesFrom(ask({ ...args, cursor: page.next_cursor }, of), args, of)];
}
