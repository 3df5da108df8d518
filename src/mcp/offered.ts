import { TOOLS } from '../operations/registry.ts';
import type { Offered } from './parts.ts';
import { RESOURCES } from './resources.ts';

/** The tools and resources that MCP clients can use, over every transport. */
export const OFFERED: Offered = { tools: () => TOOLS, resources: RESOURCES };
