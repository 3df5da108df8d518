import type { Observe } from '../events.ts';
import type { AuditEntry, AuditStore } from './audit.ts';

/** Time between two looks at the audit trail, ms. */
const LOOK_MS = 1_000;

/**
 * Reports each entry of the audit trail once, also those of commands that ran beside the server or while no server ran. So the log of the
 * server has them all, and reaches whoever collects it. Returns a function that reports what is left and ends the reports.
 */
export function startAuditLog(store: AuditStore, observe: Observe): () => void {
  const report = (): void => {
    for (const entry of store.takeUnloggedAudit()) observe({ kind: 'audited', ...shownAudit(entry) });
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
