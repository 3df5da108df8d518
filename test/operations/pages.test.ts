import { describe, expect, test } from 'bun:test';
import { detectLethalNodes } from '../../src/operations/lethal-nodes.ts';
import { PAGE_MAX } from '../../src/operations/pages.ts';
import { AS_OF, chainOf, quoted, range } from '../analytics/small-chains.ts';
import { call, callExtended, refusalOf, smallMarket } from './small-market.ts';

/** 21 strikes of calls and puts, each contract with an open interest of its own. */
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
  test('a ticker alone answers ten nodes and nothing else', () => {
    expect(Object.keys(ask({}))).toEqual(['top_nodes']);
    expect(ask({}).top_nodes).toEqual(whole.top_nodes.slice(0, 10));
  });

  test.each([
    ['a limit below the list', { limit: 7 }, 7],
    ['the list but one', { limit: NODES - 1 }, NODES - 1],
  ])('%s goes on', (_what, args, count) => {
    const page = ask(args);
    expect(page.top_nodes).toEqual(whole.top_nodes.slice(0, count));
    expect(page.next_cursor).toBeString();
  });

  test.each([
    ['as many as there are', { limit: NODES }],
    ['more than there are', { limit: PAGE_MAX }],
  ])('%s is all', (_what, args) => {
    expect(Object.keys(ask(args))).toEqual(['top_nodes']);
    expect(ask(args).top_nodes).toHaveLength(NODES);
  });

  test.each([[{ limit: 9 }], [{ limit: 41 }], [{ limit: 1 }]])('of %j fit together to the whole list', (first) => {
    expect(pagesFrom(ask(first), first)).toEqual(whole.top_nodes);
  });

  test('ten where the cursor comes without a limit', () => {
    const { next_cursor } = ask({ limit: 5 });
    expect(ask({ cursor: next_cursor }).top_nodes).toEqual(whole.top_nodes.slice(5, 15));
  });

  test('go on in the extended answer too, with what each node is made of', () => {
    const first = callExtended(detectLethalNodes, { ticker: 'ACME', limit: 3 }, context);
    const second = callExtended(detectLethalNodes, { ticker: 'ACME', cursor: first.next_cursor, limit: 3 }, context);
    expect(second.top_nodes).toEqual(whole.top_nodes.slice(3, 6));
    expect(second.components).toHaveLength(3);
    expect('next_cursor' in callExtended(detectLethalNodes, { ticker: 'ACME' }, context)).toBe(false);
  });

  test('are of the snapshot that they began with, whatever has come since', () => {
    const { context, store } = smallMarket({ chains: [chainAt(AS_OF)] });
    const first = ask({ limit: 20 }, context);
    store.saveChain(chainAt(AS_OF + 60_000, 900));
    expect(ask({}, context).top_nodes).not.toEqual(whole.top_nodes.slice(0, 10));
    expect(pagesFrom(first, { limit: 20 }, context)).toEqual(whole.top_nodes);
  });
});

describe('a cursor is refused', () => {
  const { next_cursor } = ask({ limit: 1 });
  store.saveChain({ ...chainAt(AS_OF), underlying: 'SPY' });

  test.each([
    ['that is none', { cursor: 'more' }],
    ['that is empty', { cursor: '' }],
    ['with a row that no list has', { cursor: `ACME~${AS_OF}~1e9` }],
    ['of another ticker', { ticker: 'SPY', cursor: next_cursor }],
    ['of a snapshot that is not kept', { cursor: `ACME~${AS_OF - 1}~10` }],
    ['of a moment ahead', { cursor: `ACME~${AS_OF + 1}~10` }],
    ['of the last moment that can be written', { cursor: 'ACME~9999999999999~10' }],
  ])('%s', (_what, args) => {
    const refusal = refusalOf(() => ask(args));
    expect(refusal).toMatchObject({ code: 'unprocessable', fields: ['/cursor'] });
    expect(refusal.message).toStartWith('/cursor must b');
    expect(refusal.hint).toContain('without cursor');
  });

  test('of no tracked ticker as that ticker is', () => {
    expect(refusalOf(() => ask({ ticker: 'ZZZZ', cursor: next_cursor })).code).toBe('unknown_ticker');
  });

  test.each([0, -1, 1.5, PAGE_MAX + 1, '10', null])('limit %j is out of bounds', (limit) => {
    expect(refusalOf(() => ask({ limit }))).toMatchObject({ code: 'invalid_body', fields: ['/limit'] });
  });
});

/** A page's nodes, with those of all pages after it. */
function pagesFrom(page: Page, args: object, of = context): unknown[] {
  if (page.next_cursor === undefined) return page.top_nodes;
  return [...page.top_nodes, ...pagesFrom(ask({ ...args, cursor: page.next_cursor }, of), args, of)];
}
