import examples from './openapi-examples.json';

/** Returns the example of an operation's answer by the id of the operation, or undefined. `bun run gen` writes them from a simulated market. */
export function exampleOf(operationId: string): unknown {
  return (examples as Readonly<Record<string, unknown>>)[operationId];
}
