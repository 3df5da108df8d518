import type { GetPromptResult, Prompt } from '@modelcontextprotocol/server';
import { cleanLine } from '../core/clean-text.ts';
import { INVALID_PARAMS, McpError } from './protocol-errors.ts';

/** A task that a user starts by name. The text of the prompt guides a model through calls of existing tools. */
export interface TaskPrompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  /** The tools that the text names. The prompt is offered only if all of these tools are offered. */
  readonly tools: readonly string[];
  /** Returns the text for a model. Arguments that the user left out are undefined. */
  text(given: Readonly<Record<string, string | undefined>>): string;
}

interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

const TICKER: PromptArgument = { name: 'ticker', description: 'Ticker, e.g. SPY.', required: true };

/** The end of every text. */
const CAVEATS =
  'State the age of the quotes and whether they are simulated or stale, repeat notes that change the meaning of a figure, and do not ' +
  'guess figures that no tool returned.';

export const PROMPTS: readonly TaskPrompt[] = [
  {
    name: 'ticker_brief',
    title: 'Brief on a ticker',
    description: 'Levels, regime, expected move, what changed since the previous close, and hedging by dealers.',
    arguments: [TICKER],
    tools: ['run_strategic_omni_radar', 'get_levels_history', 'get_hedging_profile'],
    text: ({ ticker }) => `Write a brief on ${ticker} for a trader, at most 200 words.
1. run_strategic_omni_radar with ticker ${ticker}: spot, walls, flip, regime, expected move and 90 % range, whipsaw risk.
2. get_levels_history with ticker ${ticker} and compare_with previous_close: what moved, new and expired contracts.
3. get_hedging_profile with ticker ${ticker} and moves [-2, -1, 1, 2]: shares that dealers buy or sell.`,
  },
  {
    name: 'squeeze_comparison',
    title: 'Compare tickers for a squeeze',
    description: 'Which of some tickers a move would be driven further by the hedging of dealers.',
    arguments: [{ name: 'tickers', description: 'Tickers, separated by commas, e.g. TSLA,GME,COIN.', required: true }],
    tools: ['screen_tickers', 'get_hedging_profile', 'detect_lethal_nodes'],
    text: ({
      tickers,
    }) => `Compare ${tickers} for the risk of a squeeze, as a table with a ranking and one sentence each.
1. screen_tickers with these tickers: regime, distance to the flip, net over gross gamma, IV rank.
2. For each of them, get_hedging_profile with moves [-5, -2, 2, 5]: negative shares at positive moves mean that dealers sell into strength, positive shares that they buy into strength and drive the move.
3. For the first two, detect_lethal_nodes: the strikes and expiries behind it.`,
  },
  {
    name: 'spread_check',
    title: 'Check a vertical spread',
    description: 'Price, probability and size of a vertical spread from quotes.',
    arguments: [
      TICKER,
      { name: 'expiry', description: 'Listed expiry, YYYY-MM-DD.', required: true },
      { name: 'put_call', description: 'C for calls, P for puts.', required: true },
      { name: 'long_strike', description: 'Strike that is bought, dollars.', required: true },
      { name: 'short_strike', description: 'Strike that is sold, dollars.', required: true },
    ],
    tools: ['get_option_quotes', 'calculate_merton_probability', 'calculate_kelly_sizing'],
    text: ({ ticker, expiry, put_call, long_strike, short_strike }) =>
      `Check the ${ticker} spread of ${expiry}: long the ${long_strike} ${put_call}, short the ${short_strike} ${put_call}.
1. get_option_quotes with ticker ${ticker}, expiry ${expiry} and put_call ${put_call}: bid, ask and Greeks of both strikes. Buy at the ask, sell at the bid: this is the cost or the credit.
2. calculate_merton_probability for each strike, with the spot of step 1 and the days to ${expiry}: the probability of ending beyond it. Mind the side in provenance.
3. State the largest gain and loss, the break-even, and the probability that prices imply. Ask the user for an estimate of their own before calculate_kelly_sizing: a probability implied by prices gives no edge.`,
  },
  {
    name: 'pre_open_brief',
    title: 'Brief before the open',
    description: 'The watchlist before the open: who stands near the flip, what changed, where volatility is high.',
    arguments: [
      { name: 'tickers', description: 'Tickers, separated by commas. By default, the universe.', required: false },
    ],
    tools: ['screen_tickers', 'get_levels_history'],
    text: ({ tickers }) => `Write a brief before the open on ${tickers ?? 'the universe'}, at most 300 words.
1. screen_tickers${tickers ? ` with tickers ${tickers}` : ''}: once sorted by the distance to the flip, once by IV rank, the first ten of each.
2. For the three nearest to their flip, get_levels_history with compare_with previous_close: what moved, which large contracts are new or expired.
3. Begin with the state of the market and the age of the quotes (provenance.market and age), then what needs attention today, then the table.`,
  },
  {
    name: 'data_check',
    title: 'Check the data',
    description: 'Whether the quotes are fresh enough to act on, and which tickers lack data.',
    arguments: [{ ...TICKER, description: 'Ticker. By default, all of the universe.', required: false }],
    tools: ['screen_tickers', 'get_live_gex_nodes'],
    text: ({ ticker }) =>
      ticker === undefined
        ? `Check the data of the universe. Call screen_tickers sorted by age, oldest first. List stale tickers, tickers without data, and whether the market is open or simulated, and say in one sentence whether the figures can be acted on.`
        : `Check the data of ${ticker}. Call get_live_gex_nodes and screen_tickers for ${ticker}. Report the source, the age, whether the market is open, whether the data is stale or simulated, and each note, and say in one sentence whether the figures can be acted on.`,
  },
];

/** Returns the prompts for `prompts/list`: each prompt whose tools are all in `tools`. */
export function promptDefinitions(prompts: readonly TaskPrompt[], tools: readonly string[]): Prompt[] {
  return offeredWith(tools, prompts).map(({ name, title, description, arguments: args }) => ({
    ...{ name, title, description },
    arguments: args.map((each) => ({ ...each })),
  }));
}

/** Returns the message of a prompt. Throws `McpError` if the prompt is unknown or if a required argument is missing. */
export function getPrompt(
  prompts: readonly TaskPrompt[],
  tools: readonly string[],
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const offered = offeredWith(tools, prompts);
  const prompt = offered.find((each) => each.name === name);
  if (!prompt) {
    const names = offered.map((each) => each.name);
    throw new McpError(INVALID_PARAMS, `There is no such prompt. Prompts: ${names.join(', ')}`);
  }
  const missing = prompt.arguments.filter((each) => each.required && !given[each.name]?.trim());
  if (missing.length > 0) {
    const named = missing.map((each) => `${each.name} (${each.description.replace(/\.$/, '')})`);
    throw new McpError(INVALID_PARAMS, `The prompt needs ${named.join(', ')}`);
  }
  const args = Object.fromEntries(
    prompt.arguments.map((each) => [each.name, cleanLine(given[each.name] ?? '').trim() || undefined]),
  );
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: `${prompt.text(args)}\n${CAVEATS}` } }],
  };
}

/** Returns whether a prompt has the argument. */
export function promptHasArgument(name: string, argument: string): boolean {
  return PROMPTS.some((each) => each.name === name && each.arguments.some((one) => one.name === argument));
}

function offeredWith(tools: readonly string[], prompts: readonly TaskPrompt[]): readonly TaskPrompt[] {
  return prompts.filter((each) => each.tools.every((tool) => tools.includes(tool)));
}
