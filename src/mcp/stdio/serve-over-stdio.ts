import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createScheduler } from '../../operations/scheduler.ts';
import { notificationOf } from '../change-notification.ts';
import { type ChangeSource, createChangeWatch } from '../change-watch.ts';
import type { McpDeps } from '../mcp-deps.ts';
import { createMcpServer } from '../mcp-server.ts';
import { standardStreams } from './standard-streams.ts';

/** MCP over this process's standard input and output, for both eras. */
export interface McpOverStdio {
  /** Notifies the client of new levels that it has subscribed to, and of other changes. Called whenever there may be some. */
  wake(): void;
  /** Resolves when the client has closed its end. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export function serveOverStdio(
  given: Omit<McpDeps, 'scheduler'> & ChangeSource,
  transport = standardStreams(),
): McpOverStdio {
  const bus = new InMemoryServerEventBus();
  const parts: McpDeps = { ...given, scheduler: createScheduler() };
  const served = serveStdio(
    ({ era }) => {
      const followed = new Set<string>();
      const server = createMcpServer(parts, { account: undefined, ...(era === 'legacy' && { followed }) });
      server.onclose = bus.subscribe((event) => {
        // For modern clients, `serveStdio` itself filters the notifications by their subscriptions.
        const told = notificationOf(event, era === 'modern' ? { has: () => true } : followed);
        if (told) void server.notification(told).catch(() => {});
      });
      return server;
    },
    { transport },
  );
  return { ...createChangeWatch(given, bus), closed: transport.closed, close: () => served.close() };
}
