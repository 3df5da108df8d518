import { USER } from '../../support/postgres.ts';
import type { TrialServers } from './trial-servers.ts';

/** A snapshot that the database has got. */
export interface Accepted {
  readonly ticker: string;
  readonly asOf: number;
  readonly place: number;
  /** When the witness saw it, ms of `performance.now()`. It was stored before. */
  readonly seenMs: number;
}

/** Another process took the lease. */
export interface LeaseTaken {
  readonly holder: string;
  readonly epoch: number;
  readonly seenMs: number;
}

/** What the database has had, seen from outside of all servers. */
export interface Witness {
  readonly accepted: readonly Accepted[];
  readonly leases: readonly LeaseTaken[];
  /** What must never be: a place or an id of a snapshot that was given twice. */
  readonly faults: readonly string[];
  /** The number of appends that a fail-over has lost. */
  lost(): Promise<number>;
  /** Returns the snapshots that no fail-over has lost. */
  kept(): Promise<Accepted[]>;
  stop(): Promise<void>;
}

/**
 * Records under which lease each append was made. It stands in the database, so it travels to standbys. A transaction whose lease has not ended
 * when it begins may append later, because until it ends nobody else can take the lease.
 */
const TRIAL_SQL = [
  `create schema trial`,
  `create table trial.appends (place bigint, replica text, tables text[], holder text, epoch bigint, is_held boolean, at timestamptz)`,
  `create function trial.record() returns trigger language plpgsql security definer as $$ begin
    insert into trial.appends select new.place, new.replica, new.tables, l.holder, l.epoch, l.until > now(), clock_timestamp()
      from (select 1) one left join zomma.leases l on l.name = 'lead';
    return new; end $$`,
  `create trigger trial_record before insert on zomma.appends for each row execute function trial.record()`,
];

/** The tables that any server may change. All others are changed under the lease. */
const FOR_ALL = ['members', 'telegram_links', 'audit', 'damaged_snapshots'];
const LOOK_MS = 100;

/** Looks at the primary of a trial several times a second, until `stop`. */
export async function startWitness(trial: TrialServers): Promise<Witness> {
  for (const statement of TRIAL_SQL) await trial.primary.query(statement, USER);
  const accepted: Accepted[] = [];
  const leases: LeaseTaken[] = [];
  const faults: string[] = [];
  const batches = new Map<number, string>();
  const ids = new Map<number, string>();
  let after = 0;
  const note = (place: number, batch: string): void => {
    if ((batches.get(place) ?? batch) !== batch) faults.push(`place ${place} was given twice`);
    batches.set(place, batch);
  };
  const look = async (): Promise<void> => {
    const [row] = await trial.primary.query(
      `select json_build_object(
        'appends', (select coalesce(json_agg(a), '[]') from (select place, batch from zomma.appends where place > ${after} order by place) a),
        'snapshots', (select coalesce(json_agg(s), '[]') from (
          select id, underlying, as_of, log_place as place from zomma.snapshots where log_place > ${after} order by log_place, id) s),
        'lease', (select to_json(l) from (select holder, epoch from zomma.leases where until > clock_timestamp()) l))::text as seen`,
      USER,
    );
    const seenMs = performance.now();
    const { appends, snapshots, lease } = JSON.parse(row!.seen as string) as Seen;
    for (const { place, batch } of appends) {
      note(place, batch);
      after = Math.max(after, place);
    }
    for (const { id, underlying: ticker, as_of: asOf, place } of snapshots) {
      const what = `${ticker} ${asOf}`;
      if ((ids.get(id) ?? what) !== what) faults.push(`id ${id} was given to ${ids.get(id)} and ${what}`);
      ids.set(id, what);
      accepted.push({ ticker, asOf, place, seenMs });
    }
    const last = leases.at(-1);
    if (!lease || (last?.holder === lease.holder && last.epoch === lease.epoch)) return;
    // A fail-over can bring a lease back that another one had followed. Nothing is written under it.
    if (leases.some((each) => each.epoch === lease.epoch && each.holder !== lease.holder))
      faults.push(`epoch ${lease.epoch} was given twice`);
    leases.push({ ...lease, seenMs });
  };
  const places = async (): Promise<ReadonlySet<number>> => {
    const rows = await trial.primary.query(
      'select place::float8 as place, batch::text as batch from zomma.appends',
      USER,
    );
    // A place of before a fail-over may have been given again.
    for (const { place, batch } of rows as { place: number; batch: string }[]) note(place, batch);
    return new Set(rows.map(({ place }) => place as number));
  };
  let isStopped = false;
  const running = (async () => {
    while (!isStopped) {
      // The primary may be away.
      await look().catch(() => {});
      await Bun.sleep(LOOK_MS);
    }
  })();
  return {
    accepted,
    leases,
    faults,
    async lost() {
      const present = await places();
      return [...batches.keys()].filter((place) => !present.has(place)).length;
    },
    async kept() {
      await look();
      const present = await places();
      return accepted.filter(({ place }) => present.has(place));
    },
    async stop() {
      isStopped = true;
      await running;
      await look();
      faults.push(...(await underOldLeases(trial)));
    },
  };
}

interface Seen {
  readonly appends: readonly { readonly place: number; readonly batch: string }[];
  readonly snapshots: readonly { id: number; underlying: string; as_of: number; place: number }[];
  readonly lease: { readonly holder: string; readonly epoch: number } | null;
}

/** Returns the appends of tables of the leader by somebody else, and the epochs that had two holders. */
async function underOldLeases({ primary }: TrialServers): Promise<string[]> {
  const others = FOR_ALL.map((name) => `'${name}'`).join(', ');
  const rows = await primary.query(
    `select place::text || ' by ' || replica || ' under ' || coalesce(holder, 'no lease') as wrong from trial.appends
      where not tables <@ array[${others}] and (is_held is not true or split_part(holder, ' ', 1) <> replica)
      union all select 'epoch ' || epoch || ' had ' || count(distinct holder) || ' holders' from trial.appends
      where epoch is not null group by epoch having count(distinct holder) > 1`,
    USER,
  );
  return rows.map(({ wrong }) => wrong as string);
}
