/** An error that a client gets as an error of JSON-RPC. It is not a class of the SDK, because a session begins without the SDK. */
export class McpError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** No resource has the URI. The code depends on the protocol revision. */
export class UnknownResource extends McpError {
  constructor(
    readonly uri: string,
    message: string,
  ) {
    super(INVALID_PARAMS, message, { uri });
  }
}

export const INVALID_PARAMS = -32_602;
export const INTERNAL_ERROR = -32_603;
