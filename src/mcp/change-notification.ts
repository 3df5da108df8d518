import type { JSONRPCNotification, ServerEvent } from '@modelcontextprotocol/server';

/**
 * Returns the notification of a change for one client, in the form of the protocol revisions with sessions. Returns `undefined` if the
 * client has not subscribed to the changed resource.
 */
export function notificationOf(event: ServerEvent, subscribed: Subscriptions): JSONRPCNotification | undefined {
  if (event.kind !== 'resource_updated') return { jsonrpc: '2.0', method: METHODS[event.kind] };
  if (!subscribed.has(event.uri)) return undefined;
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: event.uri } };
}

/** URIs of the resources that a client has subscribed to. */
export type Subscriptions = Pick<ReadonlySet<string>, 'has'>;

const METHODS = {
  tools_list_changed: 'notifications/tools/list_changed',
  prompts_list_changed: 'notifications/prompts/list_changed',
  resources_list_changed: 'notifications/resources/list_changed',
} as const;
