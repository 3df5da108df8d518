import type { Database } from 'bun:sqlite';
import { AUDIT_KEPT_MAX, type AuditEntry, type AuditStore } from '../access/audit.ts';
import { openAnySchema } from './migrations.ts';

/** Number of entries between two trims of the table. The table is not trimmed more often, because a trim reads the table. */
const TRIM_EVERY = 1_000;

/** Creates the functions that read and write the audit trail. `keptMax` is the number of entries that are kept in each class. */
export function auditTable(db: Database, keptMax = AUDIT_KEPT_MAX, trimEvery = TRIM_EVERY): AuditStore {
  const columns = 'at AS atMs, actor, client, action, account, result, detail';
  const insert = db.prepare<{ id: number }, [AuditValues]>(
    `INSERT INTO audit (at, actor, client, action, account, result, detail)
     VALUES ($atMs, $actor, $client, $action, $account, $result, $detail) RETURNING id`,
  );
  const selectSince = db.prepare<AuditEntry, [number]>(`SELECT ${columns} FROM audit WHERE at >= ? ORDER BY at, id`);
  const selectUnlogged = db.prepare<AuditEntry & { id: number }, []>(
    `SELECT id, ${columns} FROM audit WHERE logged = 0 ORDER BY id LIMIT 1000`,
  );
  const markLogged = db.prepare<null, [number]>('UPDATE audit SET logged = 1 WHERE logged = 0 AND id <= ?');
  const trim = db.prepare<null, [number, number]>(
    `DELETE FROM audit WHERE (action = 'key_issued') = ?1 AND id <=
       (SELECT id FROM audit WHERE (action = 'key_issued') = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
  );
  return {
    saveAudit(entry) {
      const { id } = insert.get({ ...entry })!;
      if (id % trimEvery === 0) for (const isIssue of [0, 1]) trim.run(isIssue, keptMax);
    },
    auditSince: (sinceMs) => selectSince.all(sinceMs),
    unloggedAudit: () => new Map(selectUnlogged.all().map(({ id, ...entry }) => [id, entry])),
    markAuditLogged: (id) => void markLogged.run(id),
  };
}

/** Adds an entry to the database at `path`. Throws `OperatorError` if the database's schema is older than the first supported schema. */
export function saveAuditIn(path: string, entry: AuditEntry): void {
  const db = openAnySchema(path);
  try {
    db.run('PRAGMA busy_timeout = 5000');
    auditTable(db).saveAudit(entry);
  } finally {
    db.close(true);
  }
}

/** The fields of `AuditEntry`. The type is an alias, because bun:sqlite does not accept an interface as the type of named parameters. */
type AuditValues = Pick<AuditEntry, keyof AuditEntry>;
