import type { TaskPrompt } from '../../src/mcp/prompts.ts';

/** The prompts that the suites get by name: one without arguments, and one that repeats its arguments. */
export const FIXTURE_PROMPTS: readonly TaskPrompt[] = [
  prompt('test_simple_prompt', [], () => 'This is a simple prompt for testing.'),
  prompt(
    'test_prompt_with_arguments',
    ['arg1', 'arg2'],
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  ),
];

function prompt(name: string, args: readonly string[], text: TaskPrompt['text']): TaskPrompt {
  return {
    ...{ name, title: name, description: 'A fixture.', tools: [], text },
    arguments: args.map((each) => ({ name: each, description: 'An argument.', required: true })),
  };
}
