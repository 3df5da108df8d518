import type { Observe } from '../core/events.ts';
import { EngineAway } from './engine-errors.ts';
import { type HeldLease, releaseLease, renewLease, takeLease } from './lease.ts';
import type { Engine } from './postgres-engine.ts';

export interface LeadershipDeps {
  readonly engine: Engine;
  /** The name of this process, which differs from that of every other one. */
  readonly holder: string;
  /** Returns why this server cannot lead now, or undefined. */
  readonly obstacle: () => string | undefined;
  /** Starts the work of the leader. The returned function ends it, and resolves when it has ended. */
  readonly lead: (lease: HeldLease) => () => Promise<void>;
  readonly observe: Observe;
  readonly ttlMs?: number;
}

/** The name of the lease. Its holder runs the feeds, records levels, removes old data and packs the tape. */
export const LEAD = 'lead';
/** Time after which the lease of a server that no longer answers is free, by the clock of the database, ms. */
const TTL_MS = 5_000;
/** A lease is renewed this many times in its time. */
const RENEWALS = 4;

/** A server that leads whenever nobody else does. */
export interface Leadership {
  /** The lease that this server holds, or undefined. */
  readonly held: () => HeldLease | undefined;
  /** Ends the work of the leader, and gives the lease up. */
  stop(): Promise<void>;
}

/** Takes the lease whenever it is free, and leads as long as this process can be sure that it holds the lease. */
export function startLeadership({
  engine,
  holder,
  obstacle,
  lead,
  observe,
  ttlMs = TTL_MS,
}: LeadershipDeps): Leadership {
  const everyMs = ttlMs / RENEWALS;
  let held: HeldLease | undefined;
  /** Until when the lease is surely held, on the monotonic clock. It begins before the database has set it. */
  let sureUntilMs = 0;
  let end: (() => Promise<void>) | undefined;
  /** Resolves when the work under the last lease has ended. */
  let ended = Promise.resolve();
  let expiry: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  let shownObstacle: string | undefined;
  const wake = Promise.withResolvers<void>();

  const stopLeading = async (reason: string): Promise<void> => {
    clearTimeout(expiry);
    const ending = end;
    const lease = held;
    [held, end] = [undefined, undefined];
    if (!ending || !lease) return;
    observe({ kind: 'lead_ended', epoch: lease.epoch, reason });
    ended = ending().catch((error: unknown) => observe({ kind: 'lead_failed', error }));
    await ended;
  };
  const sure = (askedMs: number): void => {
    sureUntilMs = askedMs + ttlMs;
    clearTimeout(expiry);
    // A process that was frozen notices here, or at its next write, which is refused.
    expiry = setTimeout(
      () => void stopLeading('the lease could not be renewed in time'),
      sureUntilMs - performance.now(),
    );
  };
  const take = async (): Promise<void> => {
    const why = obstacle();
    if (why !== shownObstacle && why !== undefined) observe({ kind: 'lead_obstructed', reason: why });
    shownObstacle = why;
    if (why !== undefined) return;
    // The work under the next lease begins after that.
    await ended;
    const askedMs = performance.now();
    const lease = await engine.transaction((sql, timeline) => takeLease(sql, { name: LEAD, holder, ttlMs, timeline }), {
      ...{ deadlineMs: everyMs * 2, isLocal: true },
    });
    if (!lease || performance.now() > askedMs + ttlMs) return;
    held = lease;
    sure(askedMs);
    observe({ kind: 'lead_began', epoch: lease.epoch });
    end = lead(lease);
  };
  const renew = async (lease: HeldLease): Promise<void> => {
    const askedMs = performance.now();
    const isHeld = await engine.transaction((sql, timeline) => renewLease(sql, lease, { ttlMs, timeline }), {
      ...{ deadlineMs: everyMs * 2, isLocal: true },
    });
    if (held !== lease) return;
    if (isHeld) sure(askedMs);
    else await stopLeading('another server may have taken the lease');
  };
  const run = async (): Promise<void> => {
    while (!isStopped) {
      try {
        if (held && obstacle() !== undefined) {
          const lease = held;
          await stopLeading(obstacle()!);
          await engine.transaction((sql) => releaseLease(sql, lease), { isLocal: true });
        } else await (held ? renew(held) : take());
      } catch (error) {
        if (!(error instanceof EngineAway)) observe({ kind: 'lead_failed', error });
      }
      await Promise.race([Bun.sleep(everyMs), wake.promise]);
    }
  };
  const running = run();
  return {
    held: () => held,
    async stop() {
      isStopped = true;
      wake.resolve();
      const lease = held;
      await running;
      await stopLeading('the server stops');
      // The lease ends by itself if the engine is away.
      if (lease)
        await engine
          .transaction((sql) => releaseLease(sql, lease), { deadlineMs: everyMs, isLocal: true })
          .catch(() => {});
    },
  };
}
