import { ENGINE_AWAY, OperatorError } from '../core/errors.ts';
import type { Transaction } from './postgres-session.ts';

/** A lease that this process holds: the right to run the feeds, by the clock of the database. `epoch` rises with each holder. */
export interface HeldLease {
  readonly name: string;
  readonly holder: string;
  readonly epoch: number;
  /** Whether another holder has not given the lease up: it may have crashed. */
  readonly isTakenOver: boolean;
}

/** A write under a lease that this process no longer holds. Nothing of it is stored. */
export class Fenced extends OperatorError {
  override readonly name = 'Fenced';
  // Whoever writes tries again, until the work of the leader is ended.
  readonly code = ENGINE_AWAY;

  constructor() {
    super('another server leads now', 'The feeds go on there.');
  }
}

/**
 * Returns the least epoch of a timeline. A lease of an earlier one has ended: its holder works on what the fail-over may have lost, and its epoch
 * must not be given again.
 */
const leastEpoch = (timeline: number): number => timeline * 1_000_000_000;

/** Takes a lease if nobody holds it. Returns undefined if somebody does. */
export async function takeLease(
  sql: Transaction,
  { name, holder, ttlMs, timeline }: { name: string; holder: string; ttlMs: number; timeline: number },
): Promise<HeldLease | undefined> {
  const least = leastEpoch(timeline);
  const [row] = await sql`
    with before as (select until > '-infinity' and holder <> ${holder} as is_taken_over from zomma.leases where name = ${name})
    insert into zomma.leases as held (name, holder, epoch, until)
    values (${name}, ${holder}, ${least}, clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond')
    on conflict (name) do update set holder = excluded.holder, epoch = greatest(held.epoch + 1, excluded.epoch), until = excluded.until
    where held.until < clock_timestamp() or held.epoch < ${least}
    returning epoch::float8 as epoch, coalesce((select is_taken_over from before), false) as is_taken_over`;
  return row && { name, holder, epoch: row.epoch, isTakenOver: row.is_taken_over };
}

/** Extends a lease. Returns false if this process has lost it. */
export async function renewLease(
  sql: Transaction,
  { name, holder, epoch }: HeldLease,
  { ttlMs, timeline }: { ttlMs: number; timeline: number },
): Promise<boolean> {
  if (epoch < leastEpoch(timeline)) return false;
  const rows = await sql`
    update zomma.leases set until = clock_timestamp() + ${ttlMs}::float8 * interval '1 millisecond'
    where name = ${name} and holder = ${holder} and epoch = ${epoch} and until > clock_timestamp() returning 1 as one`;
  return rows.length > 0;
}

/** Gives a lease up, so that another server need not wait for its end. */
export async function releaseLease(sql: Transaction, { name, holder, epoch }: HeldLease): Promise<void> {
  await sql`update zomma.leases set until = '-infinity' where name = ${name} and holder = ${holder} and epoch = ${epoch}`;
}

/** Throws `Fenced` unless this process holds the lease. Until the transaction ends, nobody else can take it. */
export async function requireLease(
  sql: Transaction,
  { name, holder, epoch }: HeldLease,
  timeline: number,
): Promise<void> {
  if (epoch < leastEpoch(timeline)) throw new Fenced();
  const rows = await sql`
    select 1 as one from zomma.leases
    where name = ${name} and holder = ${holder} and epoch = ${epoch} and until > clock_timestamp() for share`;
  if (rows.length === 0) throw new Fenced();
}
