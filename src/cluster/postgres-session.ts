import { type ReservedSQL, SQL } from 'bun';
import { OperatorError } from '../core/errors.ts';
import {
  type EngineAway,
  EngineRefused,
  type ErrorPlace,
  engineError,
  lostConnection,
  openingError,
  overdue,
  rolledBack,
  type Stage,
  silent,
} from './engine-errors.ts';
import type { StoreHost, StoreUrl } from './store-url.ts';

/** The queries of one transaction. int8 values are BigInt: a mistake in arithmetic throws, where a text would be concatenated. */
export interface Transaction extends Pick<SQL, 'array' | 'json' | 'unsafe'> {
  // biome-ignore lint/suspicious/noExplicitAny: the type of rows is the statement's, as in Bun's own interface.
  <Rows = any>(strings: TemplateStringsArray, ...values: unknown[]): SQL.Query<Rows>;
  <Row extends { [Key in PropertyKey]: unknown }>(rows: Row | readonly Row[]): SQL.Helper<Row>;
}

/**
 * What runs in a transaction. `timeline` is that of the primary, which grows by one with each promotion, and stays the same while a connection is
 * open.
 */
export type TransactionWork<T> = (sql: Transaction, timeline: number) => Promise<T>;

export interface TransactionOptions {
  /** The time for the whole transaction, ms. The connection is dropped when it has passed. */
  readonly deadlineMs?: number;
  readonly isolation?: 'read committed' | 'repeatable read';
  readonly readOnly?: boolean;
  /** Whether COMMIT waits for no synchronous standby: what is written need not outlive the primary. */
  readonly isLocal?: boolean;
}

export interface SessionOptions {
  /** The name of the sessions in `pg_stat_activity`. */
  readonly application: string;
  /** The time to open a connection, and to begin a transaction, ms. */
  readonly connectMs: number;
  /** The oldest accepted version, e.g. 150000. */
  readonly leastVersion: number;
}

/** What a server is. `system` is one for a primary and its standbys. `timeline` grows by one with each promotion; a standby has none. */
export interface ServerRole {
  readonly kind: 'primary' | 'standby' | 'read-only';
  readonly system: string;
  readonly timeline: number | undefined;
}

/** A transaction that does nothing for so long is rolled back by the server, so that a frozen process holds no lock. */
const IDLE_IN_TRANSACTION_MS = 5_000;

/**
 * Settings of a session. The server looks at the connection during a statement, and notices within seconds that the client's machine is gone:
 * otherwise the locks of a cut client would stay until the deadline of its statement, or for two hours.
 */
const SESSION_SETTINGS = {
  client_connection_check_interval: '1s',
  idle_session_timeout: '0',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10s',
} as const;

/** Sets the session up, and asks what the server is. Versions before 14 lack a setting, and so refuse the statement. */
const SETUP = `select current_setting('server_version_num')::int as version, pg_is_in_recovery() as is_standby,
  current_setting('transaction_read_only') = 'on' as is_read_only, (select system_identifier::text from pg_control_system()) as system,
  case when not pg_is_in_recovery() then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint::float8 end as timeline,
  ${Object.entries(SESSION_SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', false)`)}`;

/** Makes a client with at most one connection, which it opens when it is first used. Throws `OperatorError` if a credential cannot be read. */
export function openClient(
  url: StoreUrl,
  host: StoreHost,
  options: SessionOptions,
  onclose: (error: Error | null) => void,
): SQL {
  const { password, ca, cert, key } = url.credentials(host);
  const tls = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
    // NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check off.
    ...(url.tls.startsWith('verify') && { rejectUnauthorized: true }),
  };
  // In the options, an authority would turn `verify-ca` into `verify-full`, so the mode is in the URL.
  return new SQL(`postgres://host?sslmode=${url.tls}`, {
    adapter: 'postgres',
    hostname: host.host,
    port: host.port,
    username: url.user,
    database: url.database,
    password,
    ...(Object.keys(tls).length > 0 && { tls }),
    channelBinding: url.channelBinding,
    connectionTimeout: options.connectMs / 1000,
    connection: { application_name: options.application },
    max: 1,
    bigint: true,
    onclose,
  });
}

/** One session at one server. A session that had an error of its connection stays closed. */
export class PostgresSession {
  readonly #client: SQL;
  readonly #place: ErrorPlace;
  readonly #connectMs: number;
  #isClosed = false;
  #role: ServerRole | undefined;
  /** Is called when the server or the network ends the session. */
  onLost: (error: unknown) => void = () => {};

  /** Opens a session. Rejects with `EngineAway` or `EngineRefused`. */
  static async open(url: StoreUrl, host: StoreHost, options: SessionOptions): Promise<PostgresSession> {
    let place: ErrorPlace;
    let session: PostgresSession;
    try {
      const hasPassword = url.credentials(host).password !== '';
      place = { host: host.text, user: url.user, database: url.database, hasPassword };
      session = new PostgresSession(url, host, options, place);
    } catch (error) {
      if (error instanceof OperatorError)
        throw new EngineRefused('settings', error.message, error.hint, undefined, error);
      throw error;
    }
    try {
      const setting = () => setUp(session.#client, options.leastVersion, place);
      session.#role = await session.#within(options.connectMs, setting, () => silent(place, options.connectMs));
      return session;
    } catch (error) {
      session.close();
      throw await openingError(error, host.host, place);
    }
  }

  private constructor(
    url: StoreUrl,
    readonly host: StoreHost,
    options: SessionOptions,
    place: ErrorPlace,
  ) {
    this.#place = place;
    this.#connectMs = options.connectMs;
    // Bun connects again by itself, without the settings of the session and perhaps to a standby.
    this.#client = openClient(url, host, options, (error) => {
      if (this.#isClosed) return;
      this.close();
      this.onLost(engineError(error, place, 'working'));
    });
  }

  get isOpen(): boolean {
    return !this.#isClosed;
  }

  get role(): ServerRole {
    return this.#role!;
  }

  /**
   * Runs work in a transaction. Rejects with `EngineAway`, `EngineRefused` or the error of the work. When the deadline passes, it rejects at once,
   * and the session is closed.
   */
  async transaction<T>(
    work: TransactionWork<T>,
    options: TransactionOptions & { readonly deadlineMs: number },
  ): Promise<T> {
    const { deadlineMs } = options;
    let stage: Stage = options.readOnly ? 'reading' : 'working';
    const run = async (sql: ReservedSQL): Promise<T> => {
      const begin = () => sql.unsafe(beginOf(options)).simple();
      await this.#within(this.#connectMs, begin, () => silent(this.#place, this.#connectMs));
      const result = await work(sql, this.role.timeline ?? 0);
      if (this.#isClosed) throw lostConnection(this.#place);
      stage = 'committing';
      // COMMIT may wait for a synchronous standby. No timeout of the server ends this wait, only the deadline does.
      const { command } = await sql.unsafe('commit').simple();
      // The work has caught the error of a statement. The server then rolls back, and reports no error.
      if (command !== 'COMMIT') throw rolledBack(this.#place);
      return result;
    };
    const inTransaction = async () => {
      let sql: ReservedSQL | undefined;
      try {
        sql = await this.#client.reserve();
        return await run(sql);
      } catch (error) {
        if (sql !== undefined && !this.#isClosed) await this.#rollBack(sql);
        throw engineError(error, this.#place, stage);
      } finally {
        // A query that the work starts later rejects, so that it cannot get into the next transaction.
        await sql?.release();
      }
    };
    return this.#within(deadlineMs, inTransaction, () => overdue(this.#place, deadlineMs, stage === 'committing'));
  }

  /** Ends a transaction that has failed. After an error of COMMIT, the server has often ended it already, which is only a warning. */
  async #rollBack(sql: ReservedSQL): Promise<void> {
    try {
      await sql.unsafe('rollback').simple();
    } catch {
      this.close();
    }
  }

  /** Closes the connection at once. A query that still runs rejects. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#client.close({ timeout: 0 }).catch(() => {});
  }

  /** Closes the session and rejects with an error if work takes too long. */
  async #within<T>(ms: number, work: () => Promise<T>, late: () => EngineAway): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(late());
      this.close();
    }, ms);
    try {
      return await Promise.race([work(), promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function setUp(client: SQL, leastVersion: number, place: ErrorPlace): Promise<ServerRole> {
  const [row] = await client.unsafe(SETUP).catch((error: unknown) => {
    const { errno } = error as SQL.PostgresError;
    throw errno === '42704' || errno === '42883' ? tooOld(place, leastVersion) : error;
  });
  const { version, is_standby, is_read_only, system, timeline } = row;
  if (version < leastVersion) throw tooOld(place, leastVersion);
  const kind = is_standby ? 'standby' : is_read_only ? 'read-only' : 'primary';
  return { kind, system, timeline: timeline ?? undefined };
}

function tooOld({ host }: ErrorPlace, leastVersion: number): EngineRefused {
  const least = Math.floor(leastVersion / 10_000);
  return new EngineRefused(
    'version',
    `${host} is older than Postgres ${least}`,
    `Upgrade it to Postgres ${least} or newer.`,
  );
}

function beginOf({
  deadlineMs,
  isolation = 'read committed',
  readOnly = false,
  isLocal = false,
}: TransactionOptions & { readonly deadlineMs: number }): string {
  const idleMs = Math.min(deadlineMs, IDLE_IN_TRANSACTION_MS);
  return [
    // Without `read only`, the default of the server holds: an operator can make a primary read-only.
    `begin isolation level ${isolation}${readOnly ? ' read only' : ''}`,
    `set local statement_timeout = ${Math.ceil(deadlineMs)}`,
    `set local lock_timeout = ${Math.ceil(deadlineMs)}`,
    `set local idle_in_transaction_session_timeout = ${Math.ceil(idleMs)}`,
    ...(isLocal ? ['set local synchronous_commit = local'] : []),
  ].join('; ');
}
