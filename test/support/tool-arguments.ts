import { findOperation } from '../../src/operations/registry.ts';

/** Returns the required arguments of a tool as in its example, with this ticker in place of that of the example. */
export function exampleArguments(name: string, ticker: string): Record<string, unknown> {
  const { example, input } = findOperation(name)!;
  const required = input.required ?? [];
  return {
    ...Object.fromEntries(Object.entries(example).filter(([key]) => required.includes(key))),
    ...('ticker' in input.properties && { ticker }),
  };
}
