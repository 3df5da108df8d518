import { userInfo } from 'node:os';
import { userName } from './data-owner.ts';

/** The type of a change to members or keys. The names of the types never change, because the store contains them. */
export type AuditAction =
  | 'member_added'
  | 'member_changed'
  | 'member_revoked'
  | 'member_rekeyed'
  | 'members_imported'
  | 'telegram_linked'
  | 'key_issued'
  | 'secret_created'
  | 'secret_rotated'
  | 'secret_backed_up'
  | 'restored'
  | 'upgraded'
  | 'upgrade_undone';

/** A change to members or keys, for the audit trail. No field contains a UUID, a key or a Telegram handle. */
export interface AuditEvent {
  readonly action: AuditAction;
  /** The account that was changed. Undefined if the change does not concern one existing account. */
  readonly account?: string | undefined;
  /** The address of the client that sent a request. The actor of a request is the account that sent the request. */
  readonly client?: string | undefined;
  /** `done`, or the code of the error that prevented the change. */
  readonly result?: string;
  readonly detail?: string;
}

/** A row of the audit trail. */
export interface AuditEntry {
  /** The time of the change, ms since the epoch. */
  readonly atMs: number;
  /** Who made the change: a system user with its id, such as `zomma (uid 998)`, or `account ID` for a request. */
  readonly actor: string;
  readonly client: string | null;
  readonly action: string;
  readonly account: string | null;
  readonly result: string;
  readonly detail: string | null;
}

/** Maximum number of entries for keys that members request, and of all others, which so do not displace each other. */
export const AUDIT_KEPT_MAX = 50_000;

/** Returns whether an entry is about a key that a member has requested. */
export function isKeyIssue({ action }: Pick<AuditEntry, 'action'>): boolean {
  return action === 'key_issued';
}

/** Stores the audit trail. Entries never change. If there are too many entries, the oldest entries are removed. */
export interface AuditStore {
  saveAudit(entry: AuditEntry): void;
  /** Returns the entries since a moment, the oldest entry first. `sinceMs` is in ms since the epoch. */
  auditSince(sinceMs: number): AuditEntry[];
  /** Returns at most 1,000 entries, also of other processes, that are not logged yet, by their ids, the oldest first. */
  unloggedAudit(): ReadonlyMap<number, AuditEntry>;
  markAuditLogged(id: number): void;
}

/** Creates an audit entry from an event. `nowMs` is the wall clock, ms since the epoch. */
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

/** Returns the user of this process, such as `zomma (uid 998)`, from the system's list, because a user can change the environment. */
function systemUser(): string {
  const uid = process.geteuid?.();
  return uid === undefined ? userInfo().username : `${userName(uid)} (uid ${uid})`;
}
