import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type AuditEvent, auditEntryOf } from '../access/audit.ts';
import { type ImportCounts, importMembership, membershipOf } from '../access/membership.ts';
import { isSealedMembership, openMembership, sealMembership } from '../access/sealed-membership.ts';
import { OperatorError } from '../core/errors.ts';
import { type DataPlace, presentSecret, rotatingError, withStore } from './stored-data.ts';

/** Returns the members of a data folder, sealed under its secret, and their number. A server may use the folder at the same time. */
export async function exportMembers(
  place: DataPlace,
  nowMs: number,
): Promise<{ readonly file: Uint8Array; readonly count: number }> {
  const membership = await withStore(place, 'read', membershipOf);
  const file = sealMembership({ madeAtMs: nowMs, membership }, presentSecret(place.dataDir));
  return { file, count: membership.members.length };
}

/** Imports a sealed file into a data folder. Throws `OperatorError` if the file cannot be opened. Nothing is imported then. */
export async function importMembers(
  place: DataPlace,
  { bytes, name, isSync }: { readonly bytes: Uint8Array; readonly name: string; readonly isSync: boolean },
): Promise<ImportCounts & { readonly madeAtMs: number }> {
  return withStore(place, 'write', async (store, access) => {
    const secret = presentSecret(place.dataDir);
    const { madeAtMs, membership } = openMembership(bytes, secret, name);
    const counts = await store.write((tx) => {
      if (!Buffer.from(access.secretIn(tx)).equals(secret)) throw rotatingError();
      const audit = (event: AuditEvent) => tx.saveAudit(auditEntryOf(event, Date.now()));
      return importMembership(membership, isSync, { store: tx, audit });
    });
    return { madeAtMs, ...counts };
  });
}

/** Writes an export, which only this user may read. Replaces an earlier export, but no other file. */
export function writeExport(path: string, file: Uint8Array): void {
  if (existsSync(path) && !isSealedMembership(headOf(path)))
    throw new OperatorError(`${path} exists, and is no export of members`, 'Name another file.');
  const draft = `${path}.${process.pid}.partial`;
  try {
    writeFileSync(draft, file, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function headOf(path: string): Uint8Array {
  const head = new Uint8Array(16);
  const fd = openSync(path, 'r');
  try {
    return head.subarray(0, readSync(fd, head));
  } finally {
    closeSync(fd);
  }
}
