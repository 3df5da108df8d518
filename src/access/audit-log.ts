import { errorCode } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import type { AuditEntry, AuditStore } from './audit.ts';

/** Time between two looks at the audit trail, ms. */
const LOOK_MS = 1_000;

/**
 * Reports each entry of the audit trail, also those of commands that ran beside the server or while no server ran. So the log of the server
 * has them all, and reaches whoever collects it. An entry is marked after it was reported: a crash in between repeats it, and never loses
 * it. Returns a function that reports what is left and ends the reports.
 */
export function startAuditLog(
  store: Pick<AuditStore, 'unloggedAudit' | 'markAuditLogged'>,
  observe: Observe,
): () => void {
  let [reportedId, markedId] = [0, 0];
  const report = (): void => {
    try {
      for (const [id, entry] of store.unloggedAudit()) {
        if (id > reportedId) observe({ kind: 'audited', ...shownAudit(entry) });
        reportedId = Math.max(reportedId, id);
      }
      if (reportedId > markedId) store.markAuditLogged(reportedId);
      markedId = reportedId;
    } catch (error) {
      // The disk is full, or another process writes. The next run of the timer tries again, and reports no entry twice.
      if (!errorCode(error)?.startsWith('SQLITE_')) throw error;
    }
  };
  report();
  const timer = setInterval(report, LOOK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    report();
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
