import type { JSONRPCNotification, ServerEvent } from '@modelcontextprotocol/server';

/** What a client is told of a change, in the revisions that have sessions; undefined where it does not follow what has changed. */
export function notificationOf(event: ServerEvent, followed: Followed): JSONRPCNotification | undefined {
  if (event.kind !== 'resource_updated') return { jsonrpc: '2.0', method: METHODS[event.kind] };
  if (!followed.has(event.uri)) return undefined;
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: event.uri } };
}

/** Addresses of resources that a client follows. */
export type Followed = Pick<ReadonlySet<string>, 'has'>;

const METHODS = {
  tools_list_changed: 'notifications/tools/list_changed',
  prompts_list_changed: 'notifications/prompts/list_changed',
  resources_list_changed: 'notifications/resources/list_changed',
} as const;
