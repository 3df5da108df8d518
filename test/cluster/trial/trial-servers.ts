import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../support/certificate.ts';
import { freePort, PASSWORD, PostgresServer, USER } from '../../support/postgres.ts';
import { BINARY, ROOT, run, type Server, startServer } from '../../support/process.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

/** One of the servers of a trial. */
export class Replica {
  /** Undefined while the process does not run. */
  server: Server | undefined;
  /** The logs of the processes of before. */
  ended = '';
  /** The number of faults of this server, and of its way to the primary, that last. */
  disturbances = 0;
  /** Since when there is none, ms of `performance.now()`. Infinity while there is one. */
  soundFromMs = 0;

  constructor(
    readonly name: string,
    readonly folder: string,
    readonly url: string,
    /** The networks to the hosts of `--store`, in their order. */
    readonly links: readonly TcpProxy[],
  ) {}

  /** The logs of all processes. */
  get log(): string {
    return this.ended + (this.server?.log() ?? '');
  }

  /** Returns how long the process wanted to run since a time, but the machine had no processor for it, according to its log, ms. */
  starvedMs(sinceMs: number): number {
    const blocks = this.log.matchAll(
      /"@timestamp":"([^"]+)"[^\n]*"event_loop_blocked"[^\n]*"duration_ms":(\d+),"cpu_ms":(\d+)/g,
    );
    return [...blocks]
      .filter(([, at]) => Date.parse(at!) > sinceMs)
      .reduce((sum, [, , durationMs, cpuMs]) => sum + Number(durationMs) - Number(cpuMs), 0);
  }
}

/** The program that follows becomes this process, and is killed if the tests are. */
const WITH_THIS_PROCESS = ['setpriv', '--pdeathsig=KILL'];
const HOSTS = 2;
const NAMES = ['r1', 'r2', 'r3'];

/** Three servers of the compiled binary that share a database and a drop folder, behind the haproxy of docs/scaling.md. */
export class TrialServers implements AsyncDisposable {
  readonly #folder: string;
  readonly #env = { ZOMMA_STORE_PASSWORD: PASSWORD };
  readonly #started: PostgresServer[] = [];
  readonly secret = crypto.getRandomValues(new Uint8Array(32));
  readonly drops: string;
  replicas: readonly Replica[] = [];
  front = '';
  /** The times in which acknowledged changes may be lost, because the next primary did not get them, ms of `performance.now()`. */
  readonly tornTimes: (readonly [fromMs: number, toMs: number])[] = [];
  primary!: PostgresServer;
  standby: PostgresServer | undefined;
  #proxy: Bun.Subprocess | undefined;
  #own: readonly TcpProxy[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
    this.drops = join(folder, 'drops');
    mkdirSync(this.drops);
  }

  static async start(folder: string): Promise<TrialServers> {
    const trial = new TrialServers(folder);
    try {
      trial.primary = await PostgresServer.start();
      trial.#started.push(trial.primary);
      trial.#own = await trial.#link();
      trial.replicas = await Promise.all(NAMES.map((name) => trial.#makeReplica(name)));
      await Promise.all(trial.replicas.map((each) => trial.startReplica(each)));
      await trial.#startProxy();
      return trial;
    } catch (error) {
      await trial[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The URL of the store through networks that nothing cuts. */
  get store(): string {
    return storeUrl(this.#own);
  }

  /** Makes the folder of a server, or of a command, with the secret of all servers. */
  makeFolder(name: string): string {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'secret'), this.secret, { mode: 0o600 });
    return folder;
  }

  async startReplica(replica: Replica): Promise<void> {
    const args = [
      'serve',
      '--port',
      new URL(replica.url).port,
      '--replica',
      replica.name,
      '--data-dir',
      replica.folder,
    ];
    const proxied = ['--behind-proxy', '--trusted-proxies', '127.0.0.1', '--rate-limit', 'off'];
    const data = ['--feed', `files:${this.drops}`, '--store', storeUrl(replica.links)];
    while (!replica.server) {
      try {
        replica.server = await startServer(
          [...WITH_THIS_PROCESS, ...BINARY],
          [...args, ...proxied, ...data],
          this.#env,
        );
      } catch (error) {
        // A service manager starts a server again that has found no primary.
        if (!/cannot be reached|does not answer|no primary|connection|starts or stops/.test((error as Error).message))
          throw error;
        await Bun.sleep(200);
      }
    }
  }

  /** Ends a server at once. */
  async kill(replica: Replica): Promise<void> {
    const { pid, ended } = replica.server!;
    replica.ended = replica.log;
    replica.server = undefined;
    process.kill(pid, 'SIGKILL');
    await ended;
  }

  /** Does what disturbs servers. */
  async disturb(replicas: readonly Replica[], work: () => Promise<void>): Promise<void> {
    for (const each of replicas) {
      each.disturbances++;
      each.soundFromMs = Number.POSITIVE_INFINITY;
    }
    await work();
    for (const each of replicas) if (--each.disturbances === 0) each.soundFromMs = performance.now();
  }

  /** Returns the server that holds the lease, or undefined. */
  async leader(): Promise<Replica | undefined> {
    const text = `select split_part(holder, ' ', 1) as name from zomma.leases where until > clock_timestamp()`;
    // The primary may be away.
    const [lease] = await this.primary.query(text, USER).catch(() => []);
    return this.replicas.find(({ name }) => name === lease?.name);
  }

  /** Waits until a server leads other than one of before. */
  async nextLeader(before?: Replica): Promise<Replica> {
    for (;;) {
      const leader = await this.leader();
      if (leader && leader !== before) return leader;
      await Bun.sleep(50);
    }
  }

  /** Starts a standby at the free host. */
  async addStandby(options: { readonly synchronous: boolean }): Promise<void> {
    this.standby = await this.primary.standby(options);
    this.#started.push(this.standby);
    const used = this.#own.findIndex(({ target }) => target === this.primary.port);
    this.#point((used + 1) % HOSTS, this.standby.port);
  }

  /** Kills the primary and promotes the standby. */
  async failOver(): Promise<void> {
    await this.disturb(this.replicas, async () => {
      await this.primary.kill();
      await this.standby!.promote();
      [this.primary, this.standby] = [this.standby!, undefined];
    });
  }

  #point(host: number, port: number): void {
    for (const links of [this.#own, ...this.replicas.map((each) => each.links)]) links[host]!.target = port;
  }

  async #link(): Promise<TcpProxy[]> {
    return await Promise.all(Array.from({ length: HOSTS }, () => startTcpProxy(this.primary.port)));
  }

  async #makeReplica(name: string): Promise<Replica> {
    const links = await this.#link();
    // Until a standby runs, nothing listens at the second host.
    links[1]!.target = 1;
    const url = `http://127.0.0.1:${await freePort()}`;
    return new Replica(name, this.makeFolder(name), url, links);
  }

  /** Starts haproxy as the page configures it, with a server more. Answers name the server that gave them. */
  async #startProxy(): Promise<void> {
    const { cert, key } = makeCertificate(this.#folder);
    const pem = join(this.#folder, 'front.pem');
    writeFileSync(pem, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'));
    const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
    const port = await freePort();
    const servers = this.replicas.map(({ name, url }) => `    server ${name} ${new URL(url).host}`).join('\n');
    const config = /```haproxy\n([\s\S]*?)```/
      .exec(page)![1]!
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace('/etc/haproxy/zomma.pem', pem)
      .replace('    option forwardfor', '    http-response set-header X-Trial-Server %s\n$&')
      .replace(/( +server [ab] .*\n)+/, `${servers}\n`);
    const file = join(this.#folder, 'haproxy.cfg');
    writeFileSync(file, config);
    const checked = await run(['haproxy'], ['-c', '-f', file]);
    if (checked.code !== 0) throw new Error(checked.stderr);
    const log = Bun.file(join(this.#folder, 'haproxy.log'));
    this.#proxy = Bun.spawn([...WITH_THIS_PROCESS, 'haproxy', '-db', '-f', file], { stdout: 'ignore', stderr: log });
    this.front = `https://localhost:${port}`;
    const isUp = () =>
      fetch(`${this.front}/ready`, TRUSTED).then(
        ({ status }) => status === 200,
        () => false,
      );
    while (!(await isUp())) await Bun.sleep(20);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy?.kill('SIGKILL');
    const ends = this.replicas.map(async ({ server, links }) => {
      for (const each of links) await each[Symbol.asyncDispose]();
      if (!server) return;
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    });
    await Promise.all([this.#proxy?.exited, ...ends, ...this.#own.map((each) => each[Symbol.asyncDispose]())]);
    for (const each of this.#started) await each[Symbol.asyncDispose]();
  }
}

/** The options of requests to the proxy, whose certificate no authority has signed. */
export const TRUSTED = { tls: { rejectUnauthorized: false } };

function storeUrl(links: readonly TcpProxy[]): string {
  return `postgres://${USER}@${links.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${USER}?sslmode=disable`;
}
