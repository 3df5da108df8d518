import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createScheduler } from '../../operations/engine/scheduler.ts';
import { type ChangeSource, createChangePublisher, createEventBus, notificationOf } from '../change-publisher.ts';
import type { McpDeps } from '../mcp-deps.ts';
import { createMcpServer } from '../mcp-server.ts';
import { standardStreams } from './standard-streams.ts';

/** Serves MCP over standard input and output. To the SDK, revisions with sessions (up to 2025-11-25) are `legacy`, others `modern`. */
export function serveOverStdio(deps: Omit<McpDeps, 'scheduler'> & ChangeSource, transport = standardStreams()) {
  const bus = createEventBus();
  const serverDeps: McpDeps = { ...deps, scheduler: createScheduler() };
  const handle = serveStdio(
    ({ era }) => {
      const subscribed = new Set<string>();
      const server = createMcpServer(serverDeps, { account: undefined, ...(era === 'legacy' && { subscribed }) });
      server.onclose = bus.subscribe((event) => {
        // For modern clients, the SDK's `serveStdio` drops notifications that have no subscription.
        const notification = notificationOf(event, era === 'modern' ? { has: () => true } : subscribed);
        if (notification) void server.notification(notification).catch(() => {});
      });
      return server;
    },
    { transport },
  );
  return {
    ...createChangePublisher(deps, bus),
    /** Resolves when the client has closed standard input, or when writing to the client has failed. */
    closed: transport.closed,
    close: () => handle.close(),
  };
}
