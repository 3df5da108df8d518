import { userInfo } from 'node:os';
import { userName } from './data-owner.ts';

/** A change to members or keys. A kind that is stored keeps its name. */
export type AuditAction =
  | 'member_added'
  | 'member_changed'
  | 'member_revoked'
  | 'telegram_linked'
  | 'key_issued'
  | 'secret_created'
  | 'secret_backed_up'
  | 'restored'
  | 'upgraded'
  | 'upgrade_undone';

/** What happened, as the code that did it knows it. No field ever has a UUID, a key or a Telegram handle. */
export interface AuditEvent {
  readonly action: AuditAction;
  /** The account that was changed. Undefined if the change is not about one member, or if there is no such member. */
  readonly account?: string | undefined;
  /** For a request: the address of the client. The account itself is then the actor. */
  readonly client?: string | undefined;
  /** `done`, or the code of the error for which nothing was changed. */
  readonly result?: string;
  /** Further facts in words, such as the tier of a member. */
  readonly detail?: string;
}

/** A row of the audit trail. */
export interface AuditEntry {
  /** ms since the epoch. */
  readonly atMs: number;
  /** Who did it: a user of the system with the user's id, `zomma (uid 998)`, or `account ID` for a request. */
  readonly actor: string;
  readonly client: string | null;
  readonly action: string;
  readonly account: string | null;
  readonly result: string;
  readonly detail: string | null;
}

/** Stores the audit trail. Entries are never changed. The oldest entries are removed when there are too many entries. */
export interface AuditStore {
  saveAudit(entry: AuditEntry): void;
  /** Returns the entries from a moment on, the oldest first. `sinceMs` is in ms since the epoch. */
  auditSince(sinceMs: number): AuditEntry[];
  /** Returns entries that no log has yet, by their id, the oldest first, at most 1,000. These entries may be of other processes. */
  unloggedAudit(): ReadonlyMap<number, AuditEntry>;
  /** Marks the entries up to an id as logged. */
  markAuditLogged(id: number): void;
}

/** Completes an event to an entry. `nowMs` is the wall clock, ms since the epoch. */
export function auditEntryOf(
  { action, account, client, result = 'done', detail }: AuditEvent,
  nowMs: number,
): AuditEntry {
  const actor = client === undefined ? systemUser() : `account ${account ?? 'unknown'}`;
  return {
    atMs: nowMs,
    actor,
    client: client ?? null,
    action,
    account: account ?? null,
    result,
    detail: detail ?? null,
  };
}

/**
 * Returns the user of this process: `zomma (uid 998)`. The name comes from the system's list of users and not from the environment, which
 * the user chooses.
 */
function systemUser(): string {
  const uid = process.geteuid?.();
  return uid === undefined ? userInfo().username : `${userName(uid)} (uid ${uid})`;
}
