import { lookup } from 'node:dns/promises';
import { SQL } from 'bun';
import { cleanLine } from '../core/clean-text.ts';
import { ENGINE_AWAY, errorCode, OperatorError } from '../core/errors.ts';
import { shellLine } from '../core/shell-line.ts';
import { withinMs } from '../core/within-ms.ts';

/** Why no primary does the work: each cause can end without a change of the settings. */
export type AwayReason = 'unreachable' | 'no-primary' | 'lost' | 'deadline' | 'standby' | 'full' | 'closed';

/** No primary can be reached, the connection was lost, or the deadline has passed. The same call can succeed later. */
export class EngineAway extends OperatorError {
  override readonly name = 'EngineAway';
  readonly code = ENGINE_AWAY;
  /** True if the connection was lost while COMMIT was in progress, so that the transaction may be committed. */
  readonly outcomeUnknown: boolean;

  constructor(
    readonly reason: AwayReason,
    message: string,
    hint: string,
    { outcomeUnknown = false, cause }: { readonly outcomeUnknown?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, hint, { cause });
    this.outcomeUnknown = outcomeUnknown;
  }
}

/** What the server, or the check of its certificate, refuses. The same call fails again until somebody changes something. */
export type RefusedReason =
  | 'password'
  | 'login'
  | 'database'
  | 'tls'
  | 'version'
  | 'settings'
  | 'rights'
  | 'schema'
  | 'conflict'
  | 'sql';

/** The server refuses the connection or a statement. Nothing of the transaction is stored. */
export class EngineRefused extends OperatorError {
  override readonly name = 'EngineRefused';

  constructor(
    readonly reason: RefusedReason,
    message: string,
    hint: string,
    /** The SQLSTATE of the server, e.g. `23505`. Undefined if the refusal is not the server's. */
    readonly sqlState?: string,
    cause?: unknown,
  ) {
    super(message, hint, { cause });
  }
}

/** What messages name: the server, and the login that it has got. */
export interface ErrorPlace {
  readonly host: string;
  readonly user: string;
  readonly database: string;
  readonly hasPassword: boolean;
}

type Form = (place: ErrorPlace, detail: string) => readonly [message: string, hint: string];

export const START_HINT = 'Start Postgres there, or correct the host and the port of --store.';
export const LATER_HINT = 'The work is tried again. If this stays, look at the log of Postgres.';

/** The codes of Bun, and the SQLSTATEs or their classes, of errors that can end without a change of the settings. The first match counts. */
const AWAY: readonly (readonly [codes: RegExp, reason: AwayReason, form: Form])[] = [
  [/^ERR_POSTGRES_CONNECTION_REFUSED$/, 'unreachable', ({ host }) => [`${host} cannot be reached`, START_HINT]],
  [/^ERR_POSTGRES_CONNECTION_TIMEOUT$/, 'unreachable', ({ host }) => [`${host} does not answer`, START_HINT]],
  [/^25006$/, 'no-primary', ({ host }) => [`${host} is read-only`, 'Name the primary in --store, too.']],
  [/^(?:57014|25P03)$/, 'deadline', ({ host }) => [`${host} stopped the work after its deadline`, LATER_HINT]],
  [/^55P03$/, 'deadline', ({ host }) => [`another session at ${host} held a lock for too long`, LATER_HINT]],
  [/^53300$/, 'full', ({ host }) => [`${host} has no connection left`, 'Raise max_connections of Postgres.']],
  [
    /^53/,
    'full',
    ({ host }, detail) => [`${host} lacks a resource: ${detail}`, 'Make room on the machine of Postgres.'],
  ],
  [/^57P03$/, 'unreachable', ({ host }) => [`${host} starts or stops`, LATER_HINT]],
  [/^(?:08|57|58)/, 'lost', ({ host }, detail) => [`${host} ended the connection: ${detail}`, LATER_HINT]],
];

const PASSWORD_PLACES =
  'the file that ZOMMA_STORE_PASSWORD_FILE names, which a server reads when it starts, or a line of the file that PGPASSFILE names, which each new connection reads';
const LOGIN = 'Correct the user of --store, or pg_hba.conf of Postgres.';

const REFUSED: readonly (readonly [codes: RegExp, reason: RefusedReason, form: Form])[] = [
  [
    /^28P01$/,
    'password',
    ({ host, user, hasPassword }) =>
      hasPassword
        ? [
            `${host} refuses the password of the user "${user}", or does not know the user`,
            `Correct the user of --store, or the password: ${PASSWORD_PLACES}.`,
          ]
        : [`${host} asks for the password of the user "${user}", and none is given`, `Write it to ${PASSWORD_PLACES}.`],
  ],
  [/^28/, 'login', ({ host, user }, detail) => [`${host} refuses the user "${user}": ${detail}`, LOGIN]],
  [
    /^3D000$/,
    'database',
    ({ host, user, database }) => [
      `${host} has no database "${database}"`,
      `Create it there as the user postgres: \`${shellLine('createdb', '-O', user, database)}\`.`,
    ],
  ],
  [
    /^ERR_POSTGRES_TLS/,
    'tls',
    ({ host }) => [`${host} does not offer TLS`, 'Turn on ssl of Postgres, or lower sslmode.'],
  ],
  [
    /^ERR_POSTGRES_CHANNEL_BINDING/,
    'tls',
    ({ host }, detail) => [`${host} allows no channel binding: ${detail}`, 'Use channel_binding=prefer.'],
  ],
  [
    /^ERR_POSTGRES_\w*(?:AUTHENTICATION|SASL|SERVER_KEY|SERVER_SIGNATURE)/,
    'login',
    ({ host }, detail) => [`the login at ${host} failed: ${detail}`, LOGIN],
  ],
  [
    /^(?!ERR_POSTGRES)(?=.*(?:CERT|TLS|SSL|CRL|ISSUER|SIGNATURE|VERIFY))/,
    'tls',
    ({ host }, detail) => [
      `the certificate of ${host} is not accepted: ${detail}`,
      'Name the authority in sslrootcert, and the server as its certificate does.',
    ],
  ],
  [
    /^40/,
    'conflict',
    ({ host }, detail) => [`another transaction at ${host} was in the way: ${detail}`, 'Run the transaction again.'],
  ],
  [
    /^42501$/,
    'rights',
    ({ host, user }, detail) => [
      `the user "${user}" may not do this at ${host}: ${detail}`,
      'Grant the right to the user.',
    ],
  ],
  [
    /^(?:42|3F)/,
    'schema',
    ({ host }, detail) => [
      `the schema at ${host} is not the expected one: ${detail}`,
      'Start the version of Zomma that made it, or a newer one.',
    ],
  ],
];

/** What a session did when an error came. `reading` is the work of a transaction that may not write. */
export type Stage = 'opening' | 'reading' | 'working' | 'committing';

/**
 * Translates an error of a query or a connection. Returns any other error unchanged, such as one that the work of a transaction has thrown. If
 * an error leaves the outcome of COMMIT open, it says so.
 */
export function engineError(error: unknown, place: ErrorPlace, stage: Stage): unknown {
  const { code, errno, severity, message } = (error ?? {}) as Partial<SQL.PostgresError>;
  const state = error instanceof SQL.PostgresError ? errno : undefined;
  const known = state ?? String(code ?? '');
  const refused = REFUSED.find(([codes]) => codes.test(known));
  // Bun reports a certificate that it does not accept as an error of TLS.
  if (!(error instanceof SQL.PostgresError) && !(stage === 'opening' && refused?.[1] === 'tls')) return error;
  const detail = cleanLine(message ?? '');
  // After an error that is not fatal, the server has rolled the transaction back.
  const details = { outcomeUnknown: stage === 'committing' && severity !== 'ERROR', cause: error };
  const isOwnReadOnly = stage === 'reading' && state === READ_ONLY;
  const away = isOwnReadOnly ? undefined : AWAY.find(([codes]) => codes.test(known));
  if (away) return new EngineAway(away[1], ...away[2](place, detail), details);
  if (refused) return new EngineRefused(refused[1], ...refused[2](place, detail), state, error);
  const isLost = state === undefined ? !IN_QUERY.test(known) : severity !== 'ERROR';
  if (isLost) return new EngineAway('lost', `the connection to ${place.host} was lost: ${detail}`, LATER_HINT, details);
  return new EngineRefused('sql', `${place.host} refuses a statement: ${detail}`, OWN, state, error);
}

/** The time to ask for the address of a name, ms. */
const LOOKUP_MS = 1_000;

/** Translates an error of a connection that does not open. Bun reports a name without an address like a server that does not run. */
export async function openingError(error: unknown, name: string, place: ErrorPlace): Promise<unknown> {
  const known = engineError(error, place, 'opening');
  if (errorCode(error) !== 'ERR_POSTGRES_CONNECTION_REFUSED' || name.startsWith('/')) return known;
  let isUnknown = false;
  const asked = lookup(name).catch((failure: unknown) => {
    isUnknown = errorCode(failure) === 'ENOTFOUND';
  });
  await withinMs(LOOKUP_MS, asked);
  if (!isUnknown) return known;
  const hint = 'Correct the host of --store, or the DNS of this machine.';
  return new EngineAway('unreachable', `the name ${name} has no address`, hint, { cause: error });
}

/** The SQLSTATE of a statement after a failed one. */
const ABORTED = '25P02';
const OWN = 'This is an error of Zomma: report it.';

/** The SQLSTATE of a write in a transaction that is read-only. */
const READ_ONLY = '25006';

/** The codes of Bun for errors of one query, after which the connection is still open. */
const IN_QUERY =
  /^ERR_POSTGRES_(?:INVALID_(?:BINARY_DATA|BYTE_SEQUENCE|CHARACTER|TRANSACTION_STATE)|UNSUPPORTED_|UNKNOWN_FORMAT|SYNTAX|NOT_TAGGED|TOO_MANY|COPY_NOT)/;

/** Returns the error of a transaction that has passed its deadline. */
export function overdue({ host }: ErrorPlace, deadlineMs: number, outcomeUnknown: boolean): EngineAway {
  const message = `${host} did not complete the work within ${seconds(deadlineMs)}`;
  return new EngineAway('deadline', message, LATER_HINT, { outcomeUnknown });
}

/** Returns the error of a transaction that has passed its deadline because COMMIT, its own or that of another one, waits for a standby. */
export function waitingForStandby(host: string, cause: EngineAway): EngineAway {
  const message = `${host} waits for a synchronous standby, which is away`;
  return new EngineAway('standby', message, STANDBY_HINT, { outcomeUnknown: cause.outcomeUnknown, cause });
}

/** ALTER SYSTEM does not run together with another statement, and what it sets counts more than postgresql.conf. */
export const STANDBY_HINT = `Attach the standby, or do without it, on the primary: psql -c "alter system set synchronous_standby_names = ''" -c "select pg_reload_conf()"`;

/** Returns the error of a primary in whose place another one was promoted. */
export function replacedPrimary(host: string, timeline: number, by: number): EngineAway {
  return new EngineAway('no-primary', replacement(host, timeline, by), REPLACED_HINT);
}

export const replacement = (host: string, timeline: number, by: number): string =>
  `${host} has the timeline ${timeline}, which ${by} has replaced`;

export const REPLACED_HINT = 'Stop the old primary, and start the one that was promoted.';

/** Returns the error of a server that does not answer what takes no time. */
export function silent({ host }: ErrorPlace, ms: number): EngineAway {
  return new EngineAway('unreachable', `${host} does not answer within ${seconds(ms)}`, START_HINT);
}

/** Returns the error of a transaction whose connection was lost before its COMMIT. */
export function lostConnection({ host }: ErrorPlace): EngineAway {
  return new EngineAway('lost', `the connection to ${host} was lost`, LATER_HINT);
}

/** Returns the error of a COMMIT that the server has turned into a rollback, because a statement had failed. */
export function rolledBack({ host }: ErrorPlace): EngineRefused {
  return new EngineRefused('sql', `${host} has rolled back a transaction after an error`, OWN, ABORTED);
}

/** Returns a duration for a message, e.g. `2.5 s`. */
export function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}
