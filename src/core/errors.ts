/** An error that the caller can correct. For any other error, clients get the status 500 without details. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly hint: string | undefined;
  /** The invalid fields of the input. Each field comes with the condition that it must meet. */
  readonly fieldErrors: readonly FieldError[];
  /** Whole seconds until the same request may succeed. Undefined if the number of seconds is unknown. */
  readonly retryAfterS: number | undefined;
  /** The nearest times with data, before and after a requested time without data. Undefined if the error does not concern a time. */
  readonly nearest: NearestMoments | undefined;
  /** True if the error is about an argument in the body of a request, which decides the status of `unknown_expiry`. */
  readonly isOfBody: boolean;

  constructor(
    readonly code: ClientErrorCode,
    message: string,
    details: ClientErrorDetails = {},
  ) {
    super(message);
    this.hint = details.hint;
    this.fieldErrors = details.fieldErrors ?? [];
    this.retryAfterS = details.retryAfterS;
    this.nearest = details.nearest;
    this.isOfBody = details.isOfBody ?? false;
  }

  get status(): number {
    const { status, statusOfBody = status }: ErrorForm = CLIENT_ERRORS[this.code];
    return this.isOfBody ? statusOfBody : status;
  }

  get title(): string {
    return CLIENT_ERRORS[this.code].title;
  }
}

/**
 * An error that the operator can fix, in the installation, a setting, or the arguments or the input of a command. The command line prints
 * the message and the hint. Clients get the status 500 without details.
 */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';

  constructor(
    message: string,
    readonly hint: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An invalid or missing setting: a flag, an environment variable, or a line of the settings file. Exit code 78. */
export class SettingError extends OperatorError {
  override readonly name: string = 'SettingError';
}

/** Several faults of the settings, which are reported at once. */
export class SettingFaults extends SettingError {
  override readonly name = 'SettingFaults';

  constructor(readonly faults: readonly SettingError[]) {
    super(faults.map(({ message }) => message).join('; '), '');
  }
}

/** Returns the code of an error of the system or of SQLite, such as `ENOENT`. Returns `undefined` if the error has no code. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** The causes of a failed access to a file or a database, by the codes of the system and of SQLite. */
const DISK_PROBLEMS: readonly (readonly [codes: RegExp, reason: string, hint: string])[] = [
  [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'the disk is full', 'Make room on the disk, then try again.'],
  [
    /^(?:SQLITE_IOERR|EIO$)/,
    'the disk is full or reports an error',
    "Look at the free space of the disk and at the system's log, then try again.",
  ],
  [
    /^(?:SQLITE_READONLY|EROFS)/,
    'the file or its disk is read-only',
    'Make it writable, or give --data-dir another folder.',
  ],
  [
    /^SQLITE_(?:CORRUPT|NOTADB)/,
    'the database is damaged',
    'Restore it from a backup with `zomma restore`, or move it away to start with an empty database.',
  ],
  [
    /^(?:SQLITE_CANTOPEN|EACCES|EPERM)/,
    'a file cannot be opened',
    'Check that its folder exists, and that this user may write to both.',
  ],
  [/^SQLITE_BUSY/, 'another process keeps the database locked', 'Try again when the other process has ended.'],
];

/** Returns why an access to a file or a database failed, and what helps. Returns undefined for any other error. */
export function diskProblem(error: unknown): { readonly reason: string; readonly hint: string } | undefined {
  const code = errorCode(error) ?? '';
  const [, reason, hint] = DISK_PROBLEMS.find(([codes]) => codes.test(code)) ?? [];
  return reason === undefined || hint === undefined ? undefined : { reason, hint };
}

/** Returns whether a write failed because another process held the lock. Another attempt to write can succeed later. */
export function isBusy(error: unknown): boolean {
  return (errorCode(error)?.startsWith('SQLITE_BUSY') ?? false) || isAway(error);
}

/** Returns whether a write failed because the database of several servers is away. Another attempt succeeds when it is back. */
export function isAway(error: unknown): boolean {
  return errorCode(error) === ENGINE_AWAY;
}

/** The code of the errors for which `isAway` returns true. */
export const ENGINE_AWAY = 'ENGINE_AWAY';

export interface FieldError {
  /** JSON Pointer into the input, e.g. `/spot`. */
  readonly field: string;
  /** The condition that the field must meet, e.g. `must be at most 10`. */
  readonly expected: string;
}

/** Returns the error for a field of the input that does not meet a condition. */
export function invalidField(code: ClientErrorCode, field: string, expected: string, hint?: string): ClientError {
  return new ClientError(code, `${field} ${expected}`, { hint, fieldErrors: [{ field, expected }] });
}

/** Returns the error for an argument of an operation. If the argument comes from a body, `perform` changes the code to `invalid_body`. */
export function invalidArgument(field: string, expected: string, hint?: string): ClientError {
  return invalidField('invalid_parameter', field, expected, hint);
}

/** The times of the last data before and the first data after a requested time, ISO 8601. Null if there is none. */
export interface NearestMoments {
  readonly before: string | null;
  readonly after: string | null;
}

interface ClientErrorDetails {
  readonly hint?: string | undefined;
  readonly fieldErrors?: readonly FieldError[];
  readonly retryAfterS?: number | undefined;
  readonly nearest?: NearestMoments | undefined;
  readonly isOfBody?: boolean;
}

export interface ErrorForm {
  readonly status: number;
  /** The status of an error about an argument in a body. Absent if the status is the same. */
  readonly statusOfBody?: number;
  readonly title: string;
}

/** Each error code that clients can get, with its HTTP status. The API contract defines some statuses, and HTTP defines the others. */
export const CLIENT_ERRORS = {
  invalid_parameter: { status: 400, title: 'Invalid path or query parameter' },
  unknown_ticker: { status: 400, title: 'Ticker is not tracked' },
  unknown_expiry: { status: 400, statusOfBody: 422, title: 'Expiry is not listed' },
  no_chain: { status: 400, title: 'No usable option chain for this ticker' },
  key_missing: { status: 401, title: 'API key missing' },
  token_refused: { status: 401, title: 'Token missing or rejected' },
  key_invalid: { status: 403, title: 'API key rejected' },
  member_refused: { status: 403, title: 'Member not authorized' },
  host_foreign: { status: 403, title: 'Host name is not accepted' },
  origin_foreign: { status: 403, title: 'Origin is not allowed' },
  client_foreign: { status: 403, title: 'Client address is not accepted' },
  session_foreign: { status: 403, title: 'Session belongs to another key' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'Requested format is not offered' },
  body_too_large: { status: 413, title: 'Request body too large' },
  media_type: { status: 415, title: 'Content type is not JSON' },
  coding_unknown: { status: 415, title: 'Content coding is not supported' },
  invalid_body: { status: 422, title: 'Request body failed validation' },
  unprocessable: { status: 422, title: 'Request cannot be computed' },
  too_many_streams: { status: 429, title: 'Account has too many streams' },
  too_many_requests: { status: 429, title: 'Account has too many requests in progress' },
  too_many_bytes: { status: 429, title: 'Account has too many bytes in progress' },
  rate_limited: { status: 429, title: 'Account rate limit exceeded' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Service is at its limit' },
  overdue: { status: 503, title: 'Request took too long' },
  loading: { status: 503, title: 'Market data is being loaded' },
} as const;

export type ClientErrorCode = keyof typeof CLIENT_ERRORS;
