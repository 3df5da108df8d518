/** Time between the end of a stream and the reconnection of the client, ms. */
const RETRY_MS = 2_000;

/** An SSE comment, which clients ignore. Regular comments prevent proxies from closing an idle stream. */
export const PING = ': ping\n\n';

/** The SSE field with the time after which a client reconnects. */
export const RETRY = `retry: ${RETRY_MS}\n\n`;

/** Returns an event in the server-sent events format. `data` is one line, such as JSON. */
export function sseEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}

/** Returns the response whose body is a stream of events. */
export function sseResponse(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' } });
}
