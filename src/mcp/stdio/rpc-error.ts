import { type JSONRPCErrorResponse, ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';

/** The error that a client gets instead of an answer. */
export type RpcError = JSONRPCErrorResponse['error'];

/** JSON-RPC reserves the codes from -32099 to -32000 for servers. */
const UNANSWERED = -32_000;

export const CUT_OFF: RpcError = {
  code: UNANSWERED,
  message: 'The connection ended before the answer came. Send the request again.',
};

export const TIMED_OUT: RpcError = { code: UNANSWERED, message: 'The server does not answer. Send the request again.' };

/** Returns why a request to the server at `url` got no answer. Uses the server's error text if the server sent one. */
export function rpcErrorOf(error: unknown, url: URL): RpcError {
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  return { code: UNANSWERED, message: reasonOf(error, url) };
}

function reasonOf(error: unknown, url: URL): string {
  if (error instanceof SdkHttpError)
    return problemOf(error.data.text) ?? `The server answered with HTTP status ${error.status}`;
  // The server answered, but the answer is not a message of MCP.
  if (error instanceof SdkError) return error.message;
  return `No server answers at ${url.origin}. Check that the server is running.`;
}

function problemOf(text: unknown): string | undefined {
  try {
    const { detail, hint } = JSON.parse(String(text));
    if (typeof detail !== 'string') return undefined;
    return typeof hint === 'string' ? `${detail}. ${hint}` : detail;
  } catch {
    return undefined;
  }
}
