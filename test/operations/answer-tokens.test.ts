import { describe, expect, test } from 'bun:test';
import type { Chain } from '../../src/market/chain.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { recordedChain, someRecorded } from '../analytics/recorded.ts';
import { simulated } from '../analytics/simulated.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { ANSWER_TOKENS_MAX, DEFAULT_ANSWER_TOKENS_MAX } from '../support/tokens.ts';
import { defaultTokens, longestTokens, resourceTokens } from '../support/tool-tokens.ts';

/** The answers of the tools and the resources, with their provenance, fit into a model's context. */
describe('on the simulated market', () => {
  // The chain with the most contracts, the one with the fewest, and a ticker with a dot.
  test.each(['SPY', 'UUP', 'BRK.B'])('%s', (ticker) => expectBounded(simulated(ticker)));
});

describeRecorded('on recorded chains', (dir) => {
  test.each(someRecorded(dir))('%s', (name) => expectBounded(recordedChain(dir, name)));
});

function expectBounded(chain: Chain): void {
  for (const [tokens, bound] of [
    [defaultTokens(chain), DEFAULT_ANSWER_TOKENS_MAX],
    [longestTokens(chain), ANSWER_TOKENS_MAX],
  ] as const) {
    expect(Object.keys(tokens).sort(), 'scripts/example-calls.ts calls every tool').toEqual(
      TOOLS.map(({ name }) => name).sort(),
    );
    expect(Object.entries(tokens).filter(([, each]) => each > bound)).toEqual([]);
  }
  const pages = Object.entries(resourceTokens(chain));
  expect(pages.filter(([, each]) => each > DEFAULT_ANSWER_TOKENS_MAX)).toEqual([]);
}
