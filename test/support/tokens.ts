import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';

/** Limits for text that may reach a model's context, in tokens of o200k_base over compact JSON. */
export const DEFINITION_TOKENS_MAX = 800;
/** Limit for the name, description and input schema of a tool, which is what most hosts show to a model. */
export const VISIBLE_TOKENS_MAX = 360;
/** Limit for what hosts show of the tool that reads resources. */
export const READER_TOKENS_MAX = 150;
/** Limit for what hosts show of all tools and of the tool that reads resources. */
export const visibleListTokensMax = (tools: number) => 280 * tools + READER_TOKENS_MAX;
export const DEFAULT_ANSWER_TOKENS_MAX = 2_000;
export const ANSWER_TOKENS_MAX = 20_000;

export function tokensOf(value: unknown): number {
  return encoding.encode(JSON.stringify(value)).length;
}

const encoding = new Tiktoken(ranks);
