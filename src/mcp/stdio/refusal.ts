import { type JSONRPCErrorResponse, ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';

/** What a client reads in place of an answer. */
export type Refusal = JSONRPCErrorResponse['error'];

/** JSON-RPC leaves this range to servers. */
const UNANSWERED = -32_000;

export const CUT_OFF: Refusal = {
  code: UNANSWERED,
  message: 'The connection ended before the answer came: ask again',
};

export const TOO_LATE: Refusal = { code: UNANSWERED, message: 'The server does not answer: ask again' };

/** Why a request to the server at this address has found no answer, in the server's own words where it has said any. */
export function refusalOf(error: unknown, url: URL): Refusal {
  if (error instanceof ProtocolError) {
    return { code: error.code, message: error.message, ...(error.data !== undefined && { data: error.data }) };
  }
  return { code: UNANSWERED, message: reasonOf(error, url) };
}

function reasonOf(error: unknown, url: URL): string {
  if (error instanceof SdkHttpError) return problemOf(error.data.text) ?? `The server answered ${error.status}`;
  // It answered, but not in this protocol.
  if (error instanceof SdkError) return error.message;
  return `No server answers at ${url.origin}: is it running?`;
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
