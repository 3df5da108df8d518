import { ClientError } from '../core/errors.ts';
import type { Ledger } from '../core/ledger.ts';
import { canonicalUuid, deriveKey, hasKeyForm, keyDigest } from './api-key.ts';
import { type AuditEvent, type AuditStore, auditEntryOf } from './audit.ts';
import type { KnownMembers, Member, MemberStore, TelegramLink } from './members.ts';
import type { SecretFile } from './secret.ts';
import { DEFAULT_TIER, isEligible, isTier, TIERS } from './tiers.ts';

/** The member who sent a request, without the member's UUID and key. */
export interface Account {
  /** An opaque id. It reveals neither the UUID nor the key. A member's id never changes. */
  readonly id: string;
  readonly tier: string;
  /** The time at which the membership expires, ms since the epoch. Null if the membership does not expire. */
  readonly expiresAt: number | null;
  /** Returns whether the key of the request is still valid. Work that continues after the request, such as a stream, calls this method. */
  isAdmitted(): boolean;
}

/** The functions that add and revoke members, issue keys, and check the keys of requests. */
export type Access = ReturnType<typeof createAccess>;

/** The values of a new member. `expiresAt` is in ms since the epoch. */
export interface MemberRequest {
  readonly uuid: string;
  readonly tier?: string | undefined;
  readonly expiresAt?: number | null | undefined;
}

/** The members and the audit trail within a transaction. */
export type MemberTransaction = Omit<MemberStore, 'version'> & AuditStore;

/** What several servers know of the secret that they share. Its functions are called within a transaction of the members' ledger. */
export interface SharedSecret {
  /** Returns whether all servers have this secret from now on. Undefined if no server has registered one. */
  isPresent(secret: Uint8Array): boolean | undefined;
  /** Returns the secret, which `read` reads or creates. Throws `OperatorError` if it is not the present one of all servers. */
  own(read: () => Uint8Array): Uint8Array;
  /** Makes a secret that of all servers, when the transaction is committed. The one before stays accepted for `graceMs`. */
  replace(secret: Uint8Array, graceMs: number): void;
}

export interface AccessDeps {
  readonly members: KnownMembers & Ledger<MemberTransaction>;
  /** The server's secret. It is read only to derive keys. A server that derives no key creates no secret. */
  readonly secret: SecretFile;
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Returns false if revocations might have been missed for too long. Without this function, the members are always current. */
  readonly areMembersCurrent?: (() => boolean) | undefined;
  /** Undefined if this server alone has the members. */
  readonly shared?: SharedSecret | undefined;
}

/** Creates the functions that decide who has access. The server has no other access check. */
export function createAccess({ members, secret, nowMs, areMembersCurrent = () => true, shared }: AccessDeps) {
  /** The accounts by key, because most requests repeat a key. They are valid for one version of the store, and each until `untilMs`. */
  const admitted = new Map<string, { readonly account: Account; readonly untilMs: number }>();
  let admittedVersion = '';
  const keyFits = (bytes: Uint8Array, { uuid, generation, keyDigest: digest }: Member): boolean =>
    keyDigest(deriveKey(bytes, uuid, generation)) === digest;
  const requireCurrent = (): void => {
    if (areMembersCurrent()) return;
    throw new ClientError('unavailable', 'The server has not heard of the members for too long to admit anybody', {
      hint: 'The database of the servers is away. Retry later.',
      retryAfterS: 5,
    });
  };
  const audit = (tx: AuditStore, event: AuditEvent): void => tx.saveAudit(auditEntryOf(event, nowMs()));
  /** Completes an interrupted rotation, or drops it if no member has a new key. Within a transaction, nobody else rotates. */
  const settleRotation = (tx: MemberTransaction): void => {
    const next = secret.readNext();
    if (next === undefined) return;
    const [member] = tx.members();
    const isWritten = shared?.isPresent(next) ?? (member === undefined || keyFits(next, member));
    if (isWritten) secret.adoptNext();
    else secret.removeNext();
  };
  const settledSecret = (tx: MemberTransaction): Uint8Array => {
    settleRotation(tx);
    const read = () => secret.read()[0];
    return shared ? shared.own(read) : read();
  };
  /** Changes an existing member, and records the change. If the member does not exist, records a failure. */
  const changeMember = async (
    action: 'member_revoked' | 'member_rekeyed' | 'telegram_linked',
    uuid: string,
    change: (member: Member, tx: MemberTransaction) => void,
    detail?: string,
  ): Promise<Member> => {
    const changed = await members.write((tx) => {
      const member = tx.member(uuid);
      if (member) change(member, tx);
      const result = member ? { account: member.accountId } : { result: 'not_found' };
      audit(tx, { action, ...result, ...(member && detail !== undefined && { detail }) });
      return tx.member(uuid);
    });
    if (changed) return changed;
    throw new ClientError('not_found', 'The member does not exist', {
      hint: 'Run `zomma members list` to see the members.',
    });
  };

  return {
    async addMember({ uuid: text, tier = DEFAULT_TIER, expiresAt = null }: MemberRequest) {
      const uuid = canonicalUuid(text);
      requireTier(tier);
      requireTime(expiresAt);
      const detail = `tier ${tier}, ${expiresAt === null ? 'does not expire' : `expires ${new Date(expiresAt).toISOString()}`}`;
      return members.write((tx) => {
        const known = tx.member(uuid);
        const generation = known?.generation ?? 0;
        const apiKey = deriveKey(settledSecret(tx), uuid, generation);
        const digest = keyDigest(apiKey);
        const accountId = known?.accountId ?? digest.slice(0, ACCOUNT_ID_LENGTH);
        // If the secret has changed, the key is new, and no earlier key stays valid.
        const kept = known?.keyDigest === digest ? known : undefined;
        const { previousDigest = null, previousUntil = null } = kept ?? {};
        const key = { accountId, generation, keyDigest: digest, previousDigest, previousUntil };
        const member: Member = { uuid, tier, status: 'active', expiresAt, ...key };
        tx.saveMember(member);
        audit(tx, { action: known ? 'member_changed' : 'member_added', account: accountId, detail });
        return { member, apiKey };
      });
    },

    /**
     * Gives a member a new key. The old key stops working: at once in this process, and within 10 ms in other processes. Tier, expiry and
     * status stay. Throws `ClientError`: `invalid_parameter` if the UUID is malformed, `not_found` if no member has it.
     */
    async rekey(text: string) {
      let apiKey = '';
      const member = await changeMember('member_rekeyed', canonicalUuid(text), (known, tx) => {
        const generation = known.generation + 1;
        apiKey = deriveKey(settledSecret(tx), known.uuid, generation);
        tx.saveMember({ ...known, ...onlyKey(apiKey), generation });
      });
      return { member, apiKey };
    },

    /**
     * Replaces the secret, which may be missing, and with it the keys of all members. The old keys stay valid for `graceMs`, but keys from
     * before an earlier rotation do not. Returns the number of members, and the time until which the old keys are valid: ms since the
     * epoch, or null.
     */
    async rotateSecret(graceMs: number): Promise<{ readonly count: number; readonly untilMs: number | null }> {
      const untilMs = graceMs > 0 ? nowMs() + graceMs : null;
      const count = await members.write((tx) => {
        settleRotation(tx);
        const next = secret.writeNext();
        const known = tx.members();
        try {
          for (const member of known) {
            const previous = untilMs === null ? {} : { previousDigest: member.keyDigest, previousUntil: untilMs };
            const key = onlyKey(deriveKey(next, member.uuid, member.generation));
            tx.saveMember({ ...member, ...key, ...previous });
          }
          shared?.replace(next, graceMs);
          const grace = untilMs === null ? 'no longer' : `until ${new Date(untilMs).toISOString()}`;
          audit(tx, { action: 'secret_rotated', detail: `${known.length} members, old keys valid ${grace}` });
        } catch (error) {
          secret.removeNext();
          throw error;
        }
        return known.length;
      });
      // Until this call, other processes read both secrets.
      secret.adoptNext();
      return { count, untilMs };
    },

    /** Returns the secret from which keys are derived within a transaction. Completes an interrupted rotation. */
    secretIn: settledSecret,

    /** Reads the secret, or creates it if there is no member. Completes an interrupted rotation. */
    async openSecret(): Promise<void> {
      if (secret.readNext() !== undefined) await members.write(settleRotation);
      secret.read();
    },

    /** Returns whether a member has a key of the secret, or there are no members. Otherwise keys work, but `issueKey` refuses everyone. */
    isSecretOfMembers(): boolean {
      const all = members.members();
      const secrets = secret.read();
      return all.length === 0 || all.some((member) => secrets.some((bytes) => keyFits(bytes!, member)));
    },

    /**
     * Revokes a member's access: at once in this process, and within 10 ms in other processes. A repeated call is no error. Throws
     * `ClientError`: `invalid_parameter` if the UUID is malformed, `not_found` if no member has it.
     */
    revoke: async (text: string): Promise<Member> =>
      changeMember('member_revoked', canonicalUuid(text), (member, tx) =>
        tx.saveMember({ ...member, status: 'revoked' }),
      ),

    /** Stores the Telegram handle of a member. Throws the same errors as `revoke`. */
    async linkTelegram(text: string, link: TelegramLink): Promise<void> {
      const [dte, radar] = [link.routing1dte, link.routingRadar].map((each) => (each ? 'on' : 'off'));
      await changeMember(
        'telegram_linked',
        canonicalUuid(text),
        ({ uuid }, tx) => tx.saveTelegramLink(uuid, link),
        `routing_1dte ${dte}, routing_radar ${radar}`,
      );
    },

    /**
     * Returns the key of an authorized member. `client` is the address that asks. Throws `ClientError`: `invalid_parameter` if the UUID is
     * malformed; `member_refused` if the member is unknown, has an ineligible tier, is revoked, has expired, or was added with another
     * secret. The error is identical in these five cases, so that it does not reveal who is a member.
     */
    async issueKey(text: string, client: string): Promise<string> {
      const uuid = canonicalUuid(text);
      requireCurrent();
      // If another process rotates the secret between the two reads, neither key fits at the first attempt. All refused requests take two
      // attempts, and derive the same number of keys, so the response time does not reveal whether the member exists.
      for (let attempt = 1; attempt <= 2; attempt++) {
        const member = members.member(uuid);
        const keys = secret.read().map((bytes) => deriveKey(bytes!, uuid, member?.generation));
        const apiKey = keys.filter((key) => keyDigest(key) === member?.keyDigest).at(0);
        if (apiKey === undefined || !isAuthorized(member, nowMs())) continue;
        const { accountId: account } = member;
        await members.write((tx) => audit(tx, { action: 'key_issued', account, client }));
        return apiKey;
      }
      throw new ClientError('member_refused', 'This account is not authorized for an API key', {
        hint: 'Ask the operator for an active membership of an eligible tier.',
      });
    },

    isMember(uuid: string): boolean {
      requireCurrent();
      return isAuthorized(members.member(uuid), nowMs());
    },

    /**
     * Returns the account of the key in an `X-API-Key` header. Changes take effect at once, and changes by other processes within 10 ms.
     * Throws `ClientError`: `key_missing` if the header is missing or empty; `key_invalid`, identical for every invalid key.
     */
    authenticate(header: string | null) {
      requireCurrent();
      const version = members.version();
      if (version !== admittedVersion || admitted.size >= ADMITTED_MAX) {
        admitted.clear();
        admittedVersion = version;
      }
      const known = header === null ? undefined : admitted.get(header);
      if (known && nowMs() < known.untilMs) return known.account;
      if (header === null || header === '') {
        throw new ClientError('key_missing', 'The X-API-Key header is missing', {
          hint: 'Send your API key in the X-API-Key header, or as Authorization: Bearer.',
        });
      }
      // Two X-API-Key headers arrive joined by a comma. The joined text does not have the form of a key.
      const digest = hasKeyForm(header) ? keyDigest(header) : undefined;
      const member = digest === undefined ? undefined : members.memberByKeyDigest(digest);
      if (!isAuthorized(member, nowMs()) || nowMs() >= keyUntilMs(member, digest!)) {
        throw new ClientError('key_invalid', 'Invalid Subscriber Key', {
          hint: 'Fetch your current key from the operator terminal.',
        });
      }
      const account: Account = {
        id: member.accountId,
        tier: member.tier,
        expiresAt: member.expiresAt,
        isAdmitted() {
          const present = members.memberByKeyDigest(digest!);
          return isAuthorized(present, nowMs()) && nowMs() < keyUntilMs(present, digest!);
        },
      };
      const untilMs = Math.min(member.expiresAt ?? Number.POSITIVE_INFINITY, keyUntilMs(member, digest!));
      admitted.set(header!, { account, untilMs });
      return account;
    },
  };
}

/** Maximum number of cached accounts. A full cache takes about 3 MB. The server clears a full cache. */
const ADMITTED_MAX = 10_000;

/** Number of hex digits in an account's id: 64 bits of the first key's digest. So ids are unique, and still fit into a log line. */
const ACCOUNT_ID_LENGTH = 16;

/** Returns the time until which the key of a digest is valid, ms since the epoch. The present key is valid without a limit. */
function keyUntilMs({ keyDigest, previousUntil }: Member, digest: string): number {
  return digest === keyDigest ? Number.POSITIVE_INFINITY : (previousUntil ?? 0);
}

function onlyKey(apiKey: string): Pick<Member, 'keyDigest' | 'previousDigest' | 'previousUntil'> {
  return { keyDigest: keyDigest(apiKey), previousDigest: null, previousUntil: null };
}

function isAuthorized(member: Member | undefined, nowMs: number): member is Member {
  return (
    member !== undefined &&
    member.status === 'active' &&
    isEligible(member.tier) &&
    (member.expiresAt === null || nowMs < member.expiresAt)
  );
}

function requireTier(tier: string): void {
  if (isTier(tier)) return;
  const expected = `must be one of ${Object.keys(TIERS).join(', ')}`;
  throw new ClientError('invalid_parameter', 'The tier is unknown', {
    hint: `Use one of these tiers: ${Object.keys(TIERS).join(', ')}.`,
    fieldErrors: [{ field: '/tier', expected }],
  });
}

function requireTime(expiresAt: number | null): void {
  if (expiresAt === null || Number.isSafeInteger(expiresAt)) return;
  throw new ClientError('invalid_parameter', 'The expiry is not a time', {
    hint: 'Use whole milliseconds since 1970, or no expiry for a membership that does not expire.',
    fieldErrors: [{ field: '/expiresAt', expected: 'must be whole milliseconds since 1970' }],
  });
}
