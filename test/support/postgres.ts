import { afterAll } from 'bun:test';
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQL } from 'bun';
import { testNeeding } from './needs.ts';

/** The programs of the newest Postgres of Debian, or undefined. */
const PROGRAMS = installed();

export const hasPostgres = PROGRAMS !== undefined;

/** A form of `test` for tests that start Postgres. */
export const testWithPostgres = testNeeding(hasPostgres, 'not installed: postgresql');

/** The user and the database that a new primary has, besides those of Postgres. */
export const USER = 'zomma';
export const PASSWORD = 'right horse';

function installed(): string | undefined {
  try {
    const versions = readdirSync('/usr/lib/postgresql')
      .map(Number)
      .sort((a, b) => b - a);
    return versions[0] === undefined ? undefined : `/usr/lib/postgresql/${versions[0]}/bin`;
  } catch {
    return undefined;
  }
}

/** Postgres does not run as root. `setpriv` becomes the program, so its process id is that of Postgres, which ends with this process. */
function command(program: string, args: readonly string[]): string[] {
  const user = isRoot() ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  return ['setpriv', ...user, '--pdeathsig=QUIT', join(PROGRAMS!, program), ...args];
}

async function runProgram(program: string, args: readonly string[]): Promise<void> {
  const child = Bun.spawn(command(program, args), { cwd: tmpdir(), stdout: 'ignore', stderr: 'pipe' });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
}

/** The ports below those that the kernel gives to connections, which could take a port before a server listens on it. */
const [PORT_MIN, PORT_MAX] = [10_000, 32_000];

/** Returns a port of loopback that is free now, and that no connection takes. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.on('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

export interface PostgresOptions {
  /** Whether commits reach the disk. Without, they survive the end of Postgres, but not that of the machine. */
  readonly fsync?: boolean;
  /** Further lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

/** Who logs in and how: the superuser from the socket and from loopback, everybody else with a password. */
const LOGINS = [
  'local all all trust',
  'host all postgres 127.0.0.1/32 trust',
  'host replication postgres 127.0.0.1/32 trust',
  'hostssl all certified 127.0.0.1/32 cert',
  `host all ${USER} 127.0.0.1/32 scram-sha-256`,
  `host all ${USER} ::1/128 scram-sha-256`,
];

/**
 * Starts a primary for the tests of a file, and kills it after them, and after what the file itself does before this call by `afterAll`. It is
 * undefined if Postgres is not installed: the tests are then skipped or fail.
 */
export function postgresForTests(options?: PostgresOptions): Promise<PostgresServer> {
  const starting = PROGRAMS === undefined ? undefined : PostgresServer.start(options);
  afterAll(async () => (await starting)?.[Symbol.asyncDispose]());
  return starting as Promise<PostgresServer>;
}

/** A Postgres server in a temporary folder, on loopback. Its disposal kills it and removes the folder. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string;
  readonly port: number;
  #child: Bun.Subprocess | undefined;

  /** Starts a primary with the user and the database of Zomma. */
  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    await runProgram('initdb', ['-D', server.data, '-U', 'postgres', '-N', '-A', 'trust', '-E', 'UTF8', '--locale=C']);
    await server.#configure(options);
    await server.resume();
    await server.query(`create role ${USER} login password '${PASSWORD}'`);
    await server.query(`create database ${USER} owner ${USER}`);
    return server;
  }

  private constructor(port: number) {
    this.port = port;
    this.folder = mkdtempSync(join(tmpdir(), 'zomma-pg-'));
    if (isRoot()) chownSync(this.folder, ...ownerOf('postgres'));
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get pid(): number {
    return this.#child!.pid;
  }

  /** The host and the port, for a URL. */
  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts a standby that streams from this primary. If it is synchronous, commits of this primary wait for it from now on. */
  async standby({ synchronous = false }: { readonly synchronous?: boolean } = {}): Promise<PostgresServer> {
    const standby = new PostgresServer(await freePort());
    const from = `host=127.0.0.1 port=${this.port} user=postgres application_name=standby`;
    await runProgram('pg_basebackup', ['-d', from, '-D', standby.data, '-R', '-X', 'stream', '-c', 'fast', '-N']);
    await standby.#configure({});
    await standby.resume();
    await this.until(`select count(*) = 1 as holds from pg_stat_replication where state = 'streaming'`);
    if (synchronous) {
      await this.query(`alter system set synchronous_standby_names = 'standby'`);
      await this.query('select pg_reload_conf()');
      await this.until(`select count(*) = 1 as holds from pg_stat_replication where sync_state = 'sync'`);
    }
    return standby;
  }

  async #configure({ fsync = false, settings = [] }: PostgresOptions): Promise<void> {
    const lines = [
      `port = ${this.port}`,
      `listen_addresses = '127.0.0.1, ::1'`,
      `unix_socket_directories = '${this.folder}'`,
      `fsync = ${fsync ? 'on' : 'off'}`,
      `full_page_writes = ${fsync ? 'on' : 'off'}`,
      'shared_buffers = 16MB',
      'max_connections = 40',
      'wal_receiver_status_interval = 1s',
      `log_line_prefix = '%m %a '`,
      ...settings,
    ];
    const file = join(this.data, 'postgresql.conf');
    writeFileSync(file, `${readFileSync(file, 'utf8').replace(/^# BEGIN[\s\S]*/m, '')}# BEGIN\n${lines.join('\n')}\n`);
    writeFileSync(join(this.data, 'pg_hba.conf'), `${LOGINS.join('\n')}\n`);
  }

  /** Starts the server again after its end, and waits until it answers. */
  async resume(): Promise<void> {
    const log = Bun.file(join(this.folder, 'log'));
    this.#child = Bun.spawn(command('postgres', ['-D', this.data]), { cwd: tmpdir(), stdout: 'ignore', stderr: log });
    const child = this.#child;
    while (
      !(await this.query('select 1').then(
        () => true,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error(`postgres ended: ${await log.text()}`);
      await Bun.sleep(20);
    }
  }

  /** Lets a role log in from loopback with its password. */
  async allow(role: string): Promise<void> {
    appendFileSync(join(this.data, 'pg_hba.conf'), `host all ${role} 127.0.0.1/32 scram-sha-256\n`);
    await this.query('select pg_reload_conf()');
    await this.until(`select count(*) > 0 as holds from pg_hba_file_rules where '${role}' = any(user_name)`);
  }

  /** Turns TLS on with NAME.pem and NAME.key of a folder, whose `authority.pem` signs clients, or turns it off. Kills no session. */
  async useTls(folder: string | undefined, name = ''): Promise<void> {
    for (const each of folder === undefined ? [] : [`${name}.pem`, `${name}.key`, 'authority.pem']) {
      const path = join(this.data, each);
      copyFileSync(join(folder!, each), path);
      if (isRoot()) chownSync(path, ...ownerOf('postgres'));
    }
    const files = { ssl_cert_file: `${name}.pem`, ssl_key_file: `${name}.key`, ssl_ca_file: 'authority.pem' };
    for (const [setting, file] of Object.entries(folder === undefined ? {} : files))
      await this.query(`alter system set ${setting} = '${file}'`);
    await this.query(`alter system set ssl = ${folder === undefined ? 'off' : 'on'}`);
    const [before] = await this.query('select pg_conf_load_time() as at');
    await this.query('select pg_reload_conf()');
    await this.until(
      `select pg_conf_load_time() > '${(before!.at as Date).toISOString()}'::timestamptz + interval '1 ms' as holds`,
    );
  }

  /** Runs a program of Postgres on this server as the superuser. It may write into `folder`. */
  program(name: string, args: readonly string[]): Promise<void> {
    return runProgram(name, ['-h', this.folder, '-p', String(this.port), '-U', 'postgres', ...args]);
  }

  /** Runs a statement as superuser, with a connection of its own. */
  async query(statement: string, database = 'postgres'): Promise<Record<string, unknown>[]> {
    const sql = new SQL('postgres://host', {
      hostname: this.folder,
      port: this.port,
      username: 'postgres',
      database,
      password: '',
      max: 1,
      bigint: true,
    });
    try {
      return await sql.unsafe(statement);
    } finally {
      await sql.close({ timeout: 0 });
    }
  }

  /** Waits until the statement answers true in the column `holds`. The time limit of the test bounds the wait. */
  async until(statement: string, database?: string): Promise<void> {
    while ((await this.query(statement, database))[0]!.holds !== true) await Bun.sleep(20);
  }

  /** Ends the server as a crash does. */
  async kill(): Promise<void> {
    const processes = this.#processes();
    // Otherwise processes that live a moment longer tell their clients.
    send(processes, 'SIGSTOP');
    send(processes, 'SIGKILL');
    await this.#child!.exited;
    // A server does not start while a process of the one before holds the shared memory.
    while (processes.some(isRunning)) await Bun.sleep(1);
  }

  /** Ends the server as an operator does: transactions are rolled back. */
  async stop(): Promise<void> {
    this.#child!.kill('SIGINT');
    await this.#child!.exited;
  }

  /** Stops all processes of the server: connections stay open and silent. */
  freeze(): void {
    send(this.#processes(), 'SIGSTOP');
  }

  thaw(): void {
    send(this.#processes(), 'SIGCONT');
  }

  async promote(): Promise<void> {
    await this.query('select pg_promote()');
    await this.until('select not pg_is_in_recovery() as holds');
  }

  /** The log of the server. */
  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  #processes(): number[] {
    const { pid } = this.#child!;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return [pid, ...children.map(Number)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function send(processes: readonly number[], signal: NodeJS.Signals): void {
  for (const each of processes) {
    try {
      process.kill(each, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Whether a process has not ended. A process that has ended can stay in the list of processes for a while. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function isRoot(): boolean {
  return process.getuid!() === 0;
}

function ownerOf(name: string): [uid: number, gid: number] {
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`))!
    .split(':');
  return [Number(fields[2]), Number(fields[3])];
}
