import type { AppliedRow, ChangeSet, Mirror, MirrorPlace } from '../store/mirror.ts';
import type { StoredCell } from '../store/mirrored-tables.ts';
import type { SharedStore, Store } from '../store/sqlite.ts';
import { appendChanges, EVERYTHING, headPlace, placeOf, sequencesIn, TIMELINE_PLACES } from './change-log.ts';
import { APPEND_LOCK, readHead, requireFilled } from './cluster-schema.ts';
import { EngineAway, replacedPrimary } from './engine-errors.ts';
import { type HeldLease, requireLease } from './lease.ts';
import { lastKnownPlace, readAfter, rowsAgain } from './log-after.ts';
import type { Engine } from './postgres-engine.ts';
import type { Transaction } from './postgres-session.ts';
import { clusterTables, lastKeyOf } from './row-statements.ts';

export interface ReplicaDeps {
  readonly engine: Engine;
  readonly mirror: Mirror;
  /** The name of this server. */
  readonly name: string;
  /** Whether a write waits for a synchronous standby, if there is one. */
  readonly isSynchronous?: boolean;
  /** Called after the mirror has taken changes of the log. */
  readonly onApplied: () => void;
  /** Called when the mirror is filled anew, with the reason. */
  readonly onRefill: (reason: string) => void;
  /** Called when a fail-over has lost changes that the mirror had, with their rows. The mirror then has what the primary has. */
  readonly onLost?: (rows: readonly AppliedRow[]) => void;
  /** Called when a step of the follower fails, and with undefined when one succeeds again. */
  readonly onProblem: (error: Error | undefined) => void;
}

/** What a write also does in its transaction of the database, before and after the rehearsal. No other write runs meanwhile. */
export interface AppendHooks {
  before(sql: Transaction): Promise<void>;
  after(sql: Transaction): Promise<void>;
}

/** Interval at which the log is read if no bell rings, ms. A revocation holds everywhere within a second, also while the bell is away. */
const LOOK_MS = 500;
/** The deadline of a transaction that reads the log, ms. */
const READ_MS = 10_000;
/** The deadline of a write, ms. It holds a lock, so a frozen process would let the other servers wait. */
const WRITE_MS = 5_000;
/** Time for which the mirror remembers which rows it has changed, ms. A fail-over loses at most some seconds. */
const APPLIED_KEPT_MS = 900_000;

/** A server that follows the log into its mirror. */
export type Replica = Awaited<ReturnType<typeof openReplica>>;

/** Opens a replica: checks the tables of the cluster, and makes an unfit mirror new. Call `start` to follow the log. */
export async function openReplica({
  engine,
  mirror,
  name,
  isSynchronous = true,
  onApplied,
  onRefill,
  onLost,
  onProblem,
}: ReplicaDeps) {
  const head = await engine.transaction(readHead);
  requireFilled(head);
  const abort = new AbortController();
  let last: Promise<unknown> = Promise.resolve();
  /** Steps and writes run one after another, because each begins where the last one ended. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  /** When the last reading of the log that came to its end began. */
  let followedAt: number | undefined;
  let isComplete = false;

  /** Removes all rows, so that the next steps copy them anew. */
  const empty = (reason: string): void => {
    onRefill(reason);
    mirror.clear();
    isComplete = false;
  };

  /** Reads what the log has after a place. Throws `EngineAway` if the primary is one in whose place another one was promoted. */
  const look = async (place: MirrorPlace) => {
    const read = await engine.transaction((sql, timeline) => readAfter(sql, place, timeline), {
      ...{ readOnly: true, isolation: 'repeatable read', deadlineMs: READ_MS },
    });
    if (read.kind !== 'replaced') return read;
    const { host } = engine.state;
    engine.outdate(read.by);
    throw replacedPrimary(host ?? 'the primary', read.timeline, read.by.timeline);
  };

  const opened = mirror.place();
  if (opened && opened.cluster !== head.id) empty(FOREIGN);
  else if (opened && !opened.copied) await look(opened);

  /** Reads the next part of the log into the mirror. Returns whether the mirror may have more to read. */
  const step = async (): Promise<boolean> => {
    const place = mirror.place();
    if (place === undefined || place.copied) return copyPage(place);
    const read = await look(place);
    if (read.kind === 'foreign' || read.kind === 'gone') {
      empty(read.kind === 'foreign' ? FOREIGN : 'the log no longer has the changes since the mirror was last filled');
      return true;
    }
    if (read.kind === 'lost') {
      await repair(place);
      return true;
    }
    if (!read.step) return false;
    mirror.apply(read.step.changes, { ...place, place: read.step.place }, place);
    return read.step.hasMore;
  };

  /** Copies the next page of all rows. Changes made since the first page are read from the log afterwards. */
  const copyPage = async (place: MirrorPlace | undefined): Promise<boolean> => {
    const all = clusterTables();
    const present = place?.copied;
    const page = await engine.transaction(
      async (sql) => {
        const base = place?.place ?? (await headPlace(sql));
        const cluster = (await readHead(sql)).id;
        if (place && place.cluster !== cluster) return undefined;
        const from = present ? all.findIndex(({ table }) => table.name === present.table) : 0;
        const rowsOf = all[from]!;
        const rows = await rowsOf.page(sql, present?.key ?? undefined);
        const following = rows.length > 0 ? rowsOf : all[from + 1];
        const key = rows.length > 0 ? lastKeyOf(rowsOf, rows) : null;
        const copied = following ? { table: following.table.name, key } : null;
        const sequences = copied ? [] : await sequencesIn(sql);
        const tables = [{ table: rowsOf.table, rows, removed: [] }];
        return {
          changes: { tables, sequences, written: EVERYTHING },
          next: { cluster, place: base, copied },
        };
      },
      { readOnly: true, isolation: 'repeatable read', deadlineMs: READ_MS },
    );
    if (page) mirror.apply(page.changes, page.next, place);
    else empty(FOREIGN);
    return true;
  };

  /** Reads the rows again that were changed at places that a fail-over has lost. */
  const repair = async (place: MirrorPlace): Promise<void> => {
    const found = await engine.transaction(
      async (sql) => {
        const common = await lastKnownPlace(sql, mirror.appliedPlaces());
        if (common === undefined) return undefined;
        const lost = mirror.appliedAfter(common);
        return { common, lost, changes: await rowsAgain(sql, lost) };
      },
      { readOnly: true, isolation: 'repeatable read', deadlineMs: READ_MS },
    );
    if (found === undefined) {
      empty('a fail-over has lost more than the mirror remembers');
      return;
    }
    mirror.apply(found.changes, { ...place, place: found.common }, place);
    onLost?.(found.lost);
  };

  /** Reads the log to its end. */
  const catchUp = async (): Promise<void> => {
    const begunAt = performance.now();
    while (await step()) if (abort.signal.aborted) return;
    followedAt = begunAt;
    const { place } = mirror.place()!;
    isComplete = true;
    forgetOld(place);
    announce(place);
  };

  let announced = mirror.place()?.place;
  /** A command on the same mirror may have taken the changes. */
  const announce = (place: number): void => {
    if (place === announced) return;
    announced = place;
    onApplied();
  };

  /** Places at some moments, the oldest first. */
  const passed: { readonly atMs: number; readonly place: number }[] = [];
  const forgetOld = (place: number): void => {
    const nowMs = performance.now();
    if (nowMs - (passed.at(-1)?.atMs ?? 0) > APPLIED_KEPT_MS / 10) passed.push({ atMs: nowMs, place });
    while (passed.length > 0 && nowMs - passed[0]!.atMs > APPLIED_KEPT_MS) mirror.forgetApplied(passed.shift()!.place);
  };

  const write = <Result>(work: (tx: Store) => Result, lease?: HeldLease, hooks?: AppendHooks): Promise<Result> =>
    inTurn(async () => {
      // The lock is held only for what others have written since.
      await catchUp();
      const batch = crypto.randomUUID();
      let rehearsed: { readonly result: Result; readonly changes: ChangeSet } | undefined;
      let base: MirrorPlace | undefined;
      const append = async (sql: Transaction, timeline: number): Promise<number | undefined> => {
        await sql.unsafe(APPEND_LOCK);
        if (lease) await requireLease(sql, lease, timeline);
        for (;;) {
          const present = mirror.place()!;
          const read = await readAfter(sql, present, timeline);
          if (read.kind !== 'read') throw changed();
          if (!read.step) break;
          mirror.apply(read.step.changes, { ...present, place: read.step.place }, present);
        }
        base = mirror.place();
        await hooks?.before(sql);
        rehearsed = mirror.rehearse(work, timeline * TIMELINE_PLACES);
        await hooks?.after(sql);
        if (rehearsed.changes.tables.length === 0) return undefined;
        return await appendChanges(sql, rehearsed.changes, { timeline, replica: name, batch });
      };
      try {
        const place = await engine.transaction(append, { deadlineMs: WRITE_MS, isLocal: !isSynchronous });
        if (place !== undefined) {
          mirror.apply(rehearsed!.changes, { ...base!, place }, base);
          announce(place);
        }
      } catch (error) {
        // What the rehearsal holds in memory is of rows that are not stored.
        if (rehearsed) mirror.reset();
        if (!(error instanceof EngineAway && error.outcomeUnknown)) throw error;
        const isStored = await isCommitted(batch).catch(() => undefined);
        if (isStored === undefined) throw error;
        if (!isStored) throw new EngineAway(error.reason, error.message, error.hint, { cause: error });
        await catchUp();
      }
      return rehearsed!.result;
    });

  /** Finds out whether a write was committed whose connection broke meanwhile. Rejects if the engine stays away. */
  const isCommitted = async (batch: string): Promise<boolean> => {
    for (const untilMs = performance.now() + OUTCOME_MS; ; ) {
      try {
        return await engine.transaction(async (sql) => {
          // The lock is free only when the other transaction has ended.
          await sql.unsafe(APPEND_LOCK);
          return (await placeOf(sql, batch)) !== undefined;
        });
      } catch (error) {
        if (!(error instanceof EngineAway) || performance.now() > untilMs || abort.signal.aborted) throw error;
        // The other transaction waits as well, and nobody knows for how long.
        if (error.reason === 'standby') throw error;
        await Bun.sleep(OUTCOME_PAUSE_MS);
      }
    }
  };

  let ring = () => {};
  const follow = async (): Promise<void> => {
    while (!abort.signal.aborted) {
      const rung = Promise.withResolvers<void>();
      ring = rung.resolve;
      try {
        await inTurn(catchUp);
        onProblem(undefined);
      } catch (error) {
        if (!abort.signal.aborted) onProblem(error as Error);
      }
      const timer = setTimeout(ring, LOOK_MS);
      await rung.promise;
      clearTimeout(timer);
    }
  };
  let following: Promise<void> | undefined;
  let bell: Disposable | undefined;
  const ledger = (lease?: HeldLease, hooks?: AppendHooks): SharedStore => ({
    ...mirror.store,
    write: (work) => write(work, lease, hooks),
  });

  return {
    /** The mirror, and the ledger for writes that any server may decide. */
    store: ledger(),
    /** Returns the mirror with the ledger for writes that only the holder of a lease may decide. */
    under: (lease: HeldLease): SharedStore => ledger(lease),
    /** Returns the mirror with the ledger for writes with hooks. */
    hooked: (hooks: AppendHooks): SharedStore => ledger(undefined, hooks),
    /** Returns whether the mirror has all rows. */
    isComplete: () => isComplete,
    /** Returns the time since the log was last read to its end, ms. Undefined if it never was. */
    sinceFollowedMs: () => (followedAt === undefined ? undefined : performance.now() - followedAt),
    place: () => mirror.place()?.place ?? 0,
    /** Reads the log to its end, once. */
    catchUp: (): Promise<void> => inTurn(catchUp),
    /** Begins to follow the log. */
    start() {
      bell = engine.onBell('zomma', () => ring());
      following = follow();
    },
    /** Reads rows again that the mirror has damaged. */
    readAgain: (table: string, key: readonly StoredCell[]) =>
      inTurn(async () => {
        const row = { table: clusterTables().find((each) => each.table.name === table)!.table, key };
        const present = mirror.place()!;
        mirror.apply(await engine.transaction((sql) => rowsAgain(sql, [row])), present, present);
      }),
    async close() {
      abort.abort();
      ring();
      bell?.[Symbol.dispose]();
      await following;
      await last;
      mirror.close();
    },
  };
}

/** Time for which the outcome of a write is asked for, and the pause between two questions, ms. */
const OUTCOME_MS = 30_000;
const OUTCOME_PAUSE_MS = 250;

const FOREIGN = 'the mirror is of another cluster';
const changed = () => new EngineAway('no-primary', 'the primary has changed', 'Write again.');
