/** Generates web/operations.json: the operations of the registry that the web terminal asks for, with the address of each. */
import { join } from 'node:path';
import { TICKER_RESOURCES } from '../src/mcp/ticker-resources.ts';
import { OPERATIONS } from '../src/operations/registry.ts';

export const PAGE_OPERATIONS = join(import.meta.dir, '../web/operations.json');

export function pageOperations(): string {
  const rows = OPERATIONS.filter(({ page }) => typeof page === 'string').map(
    ({ name, title, input, tool, rest, ofMarket }) => {
      const { properties } = rest?.input ?? input;
      const resource = RESOURCE_OF.get(name);
      const method = rest?.method ?? 'POST';
      const path = rest?.path ?? `/api/v1/tools/${name}?extended=true`;
      const isTool = tool !== undefined;
      const options = {
        ...('expiries' in properties && { hasExpiries: true }),
        ...('smile_dynamics' in properties && { hasFlip: true }),
      };
      return [
        name,
        { title, method, path, isTool, ofMarket: ofMarket === true, ...options, ...(resource && { resource }) },
      ];
    },
  );
  return `${JSON.stringify(Object.fromEntries(rows), null, 2)}\n`;
}

/** The addresses of the MCP resources by the operation with the same figures. The page asks for the strikes of all expiries. */
const RESOURCE_OF = new Map<string, string>([
  ['get_target_universe', 'zomma://universe'],
  ...Object.values(TICKER_RESOURCES).map(({ operation, uriTemplate }): [string, string] => [
    operation,
    uriTemplate.replace('{expiry}', 'all'),
  ]),
]);
