import { AUDIT_KEPT_MAX, type AuditEntry, type AuditEvent, type AuditStore, isKeyIssue } from './audit.ts';
import type { KnownMembers, Member, MemberStore, TelegramLink } from './members.ts';

/** The members of a server with what belongs to them, as they travel to another server. It contains digests of keys, but no key. */
export interface Membership {
  readonly members: readonly Member[];
  readonly links: readonly (readonly [uuid: string, link: TelegramLink])[];
  /** The entries of the audit trail about the members' accounts, the oldest entry first. */
  readonly audit: readonly AuditEntry[];
}

/** The numbers of members and entries that an import has changed. */
export interface ImportCounts {
  readonly added: number;
  /** Members with another tier, expiry, key or link, without those that are now revoked. */
  readonly changed: number;
  readonly revoked: number;
  /** Members that are active in the file, but revoked here. They stay revoked. */
  readonly staysRevoked: number;
  readonly audit: number;
}

export interface ImportDeps {
  readonly store: Omit<MemberStore, 'version'> & Pick<AuditStore, 'auditSince' | 'saveAudit'>;
  readonly audit: (event: AuditEvent) => void;
  /** Number of entries that the store keeps in each class. */
  readonly keptMax?: number;
}

export function membershipOf(store: KnownMembers & Pick<AuditStore, 'auditSince'>): Membership {
  const members = store.members();
  const accounts = new Set(members.map(({ accountId }) => accountId));
  return {
    members,
    links: members.flatMap(({ uuid }) => {
      const link = store.telegramLink(uuid);
      return link ? [[uuid, link] as const] : [];
    }),
    audit: store.auditSince(0).filter(({ account }) => account !== null && accounts.has(account)),
  };
}

/**
 * Takes the members of another server into the store. The caller is in a transaction. A repeated import changes nothing. A member who is revoked in the
 * file or in the store is revoked afterwards, so an import never lifts a revocation, and a replaced key never becomes valid again. Of tier
 * and expiry, the later change counts. With `isSync`, those of the file count, and members who are not in the file are revoked.
 */
export function importMembership(
  given: Membership,
  isSync: boolean,
  { store, audit, keptMax = AUDIT_KEPT_MAX }: ImportDeps,
): ImportCounts {
  const counts = { added: 0, changed: 0, revoked: 0, staysRevoked: 0, audit: 0 };
  const ownAudit = store.auditSince(0);
  const [givenChanges, ownChanges] = [lastChanges(given.audit), lastChanges(ownAudit)];
  const links = new Map(given.links);
  /** The accounts of the store by the accounts of the file. They differ if a member was added to both before they had one secret. */
  const accounts = new Map<string, string>();
  for (const member of given.members) {
    const own = store.member(member.uuid);
    accounts.set(member.accountId, own?.accountId ?? member.accountId);
    const isLater = own && (givenChanges.get(member.accountId) ?? 0) >= (ownChanges.get(own.accountId) ?? 0);
    const merged = own ? mergeMember(own, member, isSync || isLater === true) : member;
    const isChanged = own === undefined || FIELDS.some((field) => own[field] !== merged[field]);
    if (isChanged) store.saveMember(merged);
    const isLinked = importLink(store, member.uuid, links.get(member.uuid), isSync);
    if (own === undefined) counts.added++;
    else if (own.status !== merged.status) counts.revoked++;
    else if (isChanged || isLinked) counts.changed++;
    if (own?.status === 'revoked' && member.status === 'active') counts.staysRevoked++;
  }
  const inFile = new Set(given.members.map(({ uuid }) => uuid));
  const missing = isSync ? store.members().filter(({ uuid, status }) => status === 'active' && !inFile.has(uuid)) : [];
  for (const member of missing) {
    store.saveMember({ ...member, status: 'revoked' });
    audit({ action: 'member_revoked', account: member.accountId, detail: 'not in the imported file' });
    counts.revoked++;
  }
  const travelled = given.audit.map((entry) => ({
    ...entry,
    account: accounts.get(entry.account!) ?? entry.account,
  }));
  for (const entry of newEntries(ownAudit, travelled, keptMax)) {
    store.saveAudit(entry);
    counts.audit++;
  }
  const { added, changed, revoked } = counts;
  if (added + changed + revoked + counts.audit > 0) {
    const detail = `${added} added, ${changed} changed, ${revoked} revoked, audit entries: ${counts.audit}`;
    audit({ action: 'members_imported', detail });
  }
  return counts;
}

const FIELDS = [
  ...['tier', 'status', 'expiresAt', 'generation', 'keyDigest', 'previousDigest', 'previousUntil'],
] as readonly (keyof Member)[];

function mergeMember(own: Member, given: Member, isLater: boolean): Member {
  const { tier, expiresAt } = isLater ? given : own;
  const { generation, keyDigest, previousDigest, previousUntil } = given.generation >= own.generation ? given : own;
  const status = own.status === 'revoked' ? 'revoked' : given.status;
  return { ...own, tier, expiresAt, status, generation, keyDigest, previousDigest, previousUntil };
}

/** Returns whether the link of a member was replaced. */
function importLink(
  store: ImportDeps['store'],
  uuid: string,
  link: TelegramLink | undefined,
  isSync: boolean,
): boolean {
  const own = store.telegramLink(uuid);
  if (link === undefined || (own && JSON.stringify(own) === JSON.stringify(link))) return false;
  if (own && !isSync && (own.lastPingAt ?? 0) > (link.lastPingAt ?? 0)) return false;
  store.saveTelegramLink(uuid, link);
  return true;
}

/** Returns the time of the last change to tier and expiry of each account, ms since the epoch. */
function lastChanges(audit: readonly AuditEntry[]): ReadonlyMap<string, number> {
  const changes = new Map<string, number>();
  for (const { action, account, atMs } of audit) {
    if (account === null || (action !== 'member_added' && action !== 'member_changed')) continue;
    changes.set(account, Math.max(atMs, changes.get(account) ?? 0));
  }
  return changes;
}

/** Returns the given entries that the trail lacks. Leaves out those that the trail would have removed by now, because it keeps the newest. */
function newEntries(own: readonly AuditEntry[], given: readonly AuditEntry[], keptMax: number): AuditEntry[] {
  const known = new Set(own.map(textOf));
  const lacking = [...new Map(given.map((entry) => [textOf(entry), entry])).entries()]
    .filter(([text]) => !known.has(text))
    .map(([, entry]) => entry);
  const classes = Map.groupBy(lacking, isKeyIssue);
  return [...classes].flatMap(([isIssue, entries]) => {
    const all = [...own.filter((entry) => isKeyIssue(entry) === isIssue), ...entries];
    const removedMs = all.map(({ atMs }) => atMs).toSorted((a, b) => b - a)[keptMax] ?? Number.NEGATIVE_INFINITY;
    return entries.filter(({ atMs }) => atMs > removedMs);
  });
}

function textOf({ atMs, actor, client, action, account, result, detail }: AuditEntry): string {
  return JSON.stringify([atMs, actor, client, action, account, result, detail]);
}
