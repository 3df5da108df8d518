import { TOOLS } from '../operations/registry.ts';
import type { Offered } from './parts.ts';
import { RESOURCES } from './resources.ts';

/** What MCP clients are offered, over whichever transport. */
export const OFFERED: Offered = { tools: () => TOOLS, resources: RESOURCES };
