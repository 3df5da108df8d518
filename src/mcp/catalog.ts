import { TOOLS } from '../operations/registry.ts';
import type { Catalog } from './mcp-deps.ts';
import { RESOURCES } from './resources.ts';

/** The tools and resources that MCP clients can use, over every transport. */
export const CATALOG: Catalog = { tools: () => TOOLS, resources: RESOURCES };
