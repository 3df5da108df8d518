import { errorCode, isAway } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { Ledger } from '../core/ledger.ts';
import type { AuditEntry, AuditStore } from './audit.ts';

/** Time between two checks of the audit trail, ms. */
const LOOK_MS = 1_000;

/**
 * Reports each entry of the audit trail to the log, also entries of commands that ran without a server. Marks an entry as logged after its
 * report, so a crash may repeat an entry but loses none. Returns a function that reports the remaining entries and then stops.
 */
export async function startAuditLog(
  store: Pick<AuditStore, 'unloggedAudit'> & Ledger<AuditStore>,
  observe: Observe,
): Promise<() => Promise<void>> {
  let [reportedId, markedId] = [0, 0];
  let running: Promise<void> | undefined;
  const report = async (): Promise<void> => {
    try {
      for (const [id, entry] of store.unloggedAudit()) {
        if (id > reportedId) observe({ kind: 'audited', ...shownAudit(entry) });
        reportedId = Math.max(reportedId, id);
      }
      const upTo = reportedId;
      if (upTo > markedId) await store.write((tx) => tx.markAuditLogged(upTo));
      markedId = upTo;
    } catch (error) {
      // The cause is a full disk, another process that is writing, or a database that is away. The next run of the timer tries again, and does not repeat an entry.
      if (!errorCode(error)?.startsWith('SQLITE_') && !isAway(error)) throw error;
    }
  };
  const look = () => {
    running ??= report().finally(() => {
      running = undefined;
    });
  };
  await report();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
    await report();
  };
}

function shownAudit({ atMs, actor, client, action, account, result, detail }: AuditEntry) {
  return {
    at: new Date(atMs).toISOString(),
    actor,
    ...(client !== null && { client }),
    action,
    ...(account !== null && { account }),
    result,
    ...(detail !== null && { detail }),
  };
}
