import { join } from 'node:path';
import { BINARY } from '../support/process.ts';
import type { Target } from './client.ts';

/** The ways to connect, as the documentation describes them. */
export interface Command {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

/** How a client sends the key over HTTP. */
export type SendKey = (key: string) => { headers: Record<string, string> };

export const keyHeader: SendKey = (key) => ({ headers: { 'X-API-Key': key } });

/** The only header in which hosted connectors can send a key. */
export const bearerHeader: SendKey = (key) => ({ headers: { Authorization: `Bearer ${key}` } });

/** A process that the client starts, on the data folder. */
export function local({ dataDir }: Target): Command {
  return { command: BINARY[0]!, args: ['mcp', '--data-dir', dataDir] };
}

/** A process that the client starts, which connects to the running server. */
export function bridged({ url, key }: Target): Command {
  return { command: BINARY[0]!, args: ['mcp', '--url', url, '--key', key] };
}

/** A program of an installed package. */
export function program(runtime: 'bun' | 'node', file: string, args: readonly string[], home: string): Command {
  const run = runtime === 'bun' ? [process.execPath, '--bun'] : ['node'];
  return {
    command: run[0]!,
    args: [...run.slice(1), join(import.meta.dir, 'node_modules', file), ...args],
    // The program stores its files in a temporary home folder.
    env: { ...(process.env as Record<string, string>), HOME: home },
  };
}
