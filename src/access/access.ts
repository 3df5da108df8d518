import { ClientError, OperatorError } from '../core/errors.ts';
import { canonicalUuid, deriveKey, hasKeyForm, keyDigest } from './api-key.ts';
import type { AuditEvent } from './audit.ts';
import type { Member, MemberStore, TelegramLink } from './members.ts';
import { DEFAULT_TIER, isEligible, isTier, TIERS } from './tiers.ts';

/** The member who sent a request, without the member's UUID and key. */
export interface Account {
  /** An opaque id. The id reveals neither the UUID nor the key. A member's id changes only if the server's secret changes. */
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

export interface AccessDeps {
  readonly members: MemberStore;
  /** Returns the server's secret. Called only when the first key is derived, so a server that derives no key creates no secret. */
  readonly secret: () => Uint8Array;
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Records a change in the audit trail. */
  readonly audit: (event: AuditEvent) => void;
  /** Runs a change and writes its audit record in one transaction. */
  readonly transaction: <T>(work: () => T) => T;
}

/** Creates the functions that decide who has access. The server has no other access check. */
export function createAccess({ members, secret, nowMs, audit, transaction }: AccessDeps) {
  let secretBytes: Uint8Array | undefined;
  /** A cache of accounts by key, because most requests repeat a key. The cache is valid for one version of the store. */
  const admitted = new Map<string, Account>();
  let admittedVersion = '';
  const keyOf = (uuid: string): string => {
    secretBytes ??= secret();
    return deriveKey(secretBytes, uuid);
  };
  /** Changes an existing member, and records the change. If the member does not exist, records a failure. */
  const changeMember = (
    action: 'member_revoked' | 'telegram_linked',
    uuid: string,
    change: (member: Member) => void,
    detail?: string,
  ): Member => {
    const member = members.member(uuid);
    if (member === undefined) {
      audit({ action, result: 'not_found' });
      throw new ClientError('not_found', 'The member does not exist', {
        hint: 'Run `zomma members list` to see the members.',
      });
    }
    transaction(() => {
      change(member);
      audit({ action, account: accountIdOf(member), ...(detail !== undefined && { detail }) });
    });
    return members.member(uuid)!;
  };

  return {
    addMember({ uuid: text, tier = DEFAULT_TIER, expiresAt = null }: MemberRequest) {
      const uuid = canonicalUuid(text);
      requireTier(tier);
      requireTime(expiresAt);
      const apiKey = keyOf(uuid);
      const member: Member = { uuid, tier, status: 'active', expiresAt, keyDigest: keyDigest(apiKey) };
      const action = members.member(uuid) ? 'member_changed' : 'member_added';
      const detail = `tier ${tier}, ${expiresAt === null ? 'does not expire' : `expires ${new Date(expiresAt).toISOString()}`}`;
      transaction(() => {
        members.saveMember(member);
        audit({ action, account: accountIdOf(member), detail });
      });
      return { member, apiKey };
    },

    /**
     * Revokes a member's access. The revocation takes effect immediately in this process, and within 10 ms in other processes with the same
     * store. If the member is already revoked, there is no error.
     *
     * Throws `ClientError`: `invalid_parameter` if the UUID is malformed, `not_found` if no member has this UUID.
     */
    revoke: (text: string) =>
      changeMember('member_revoked', canonicalUuid(text), (member) =>
        members.saveMember({ ...member, status: 'revoked' }),
      ),

    /**
     * Stores the Telegram handle of a member.
     *
     * Throws `ClientError`: `invalid_parameter` if the UUID is malformed, `not_found` if no member has this UUID.
     */
    linkTelegram(text: string, link: TelegramLink) {
      const [dte, radar] = [link.routing1dte, link.routingRadar].map((each) => (each ? 'on' : 'off'));
      changeMember(
        'telegram_linked',
        canonicalUuid(text),
        ({ uuid }) => members.saveTelegramLink(uuid, link),
        `routing_1dte ${dte}, routing_radar ${radar}`,
      );
    },

    /**
     * Returns the key of an authorized member. `client` is the address of the client that requests the key.
     *
     * Throws `ClientError`: `invalid_parameter` if the UUID is malformed; `member_refused` if the member is unknown, has an ineligible
     * tier, is revoked or has expired. The error `member_refused` is identical in all four cases, so that the error does not reveal who is
     * a member. Throws `OperatorError` if the member was added with another secret.
     */
    issueKey(text: string, client: string) {
      const uuid = canonicalUuid(text);
      // The key is derived first, so the response time does not reveal whether the member exists.
      const apiKey = keyOf(uuid);
      const digest = keyDigest(apiKey);
      const member = members.member(uuid);
      if (!isAuthorized(member, nowMs())) {
        throw new ClientError('member_refused', 'This account is not authorized for an API key', {
          hint: 'Ask the operator for an active membership of an eligible tier.',
        });
      }
      // If the secret has changed, the key does not match the stored digest. The server would reject such a key, so no key is issued.
      if (member.keyDigest !== digest) {
        throw new OperatorError(
          'this member was added with another secret',
          'Restore the secret file, or add the members again and have them fetch new keys.',
        );
      }
      audit({ action: 'key_issued', account: accountIdOf(member), client });
      return apiKey;
    },

    /**
     * Returns the account of the key in an `X-API-Key` header. Changes by this process take effect immediately, and changes by other
     * processes within 10 ms.
     *
     * Throws `ClientError`: `key_missing` if the header is missing or empty; `key_invalid` if the key is not valid. The error `key_invalid`
     * is identical for every invalid key.
     */
    authenticate(header: string | null) {
      const version = members.version();
      if (version !== admittedVersion || admitted.size >= ADMITTED_MAX) {
        admitted.clear();
        admittedVersion = version;
      }
      const known = header === null ? undefined : admitted.get(header);
      if (known && (known.expiresAt === null || nowMs() < known.expiresAt)) return known;
      if (header === null || header === '') {
        throw new ClientError('key_missing', 'The X-API-Key header is missing', {
          hint: 'Send your API key in the X-API-Key header, or as Authorization: Bearer.',
        });
      }
      // Two X-API-Key headers arrive joined by a comma. The joined text does not have the form of a key.
      const digest = hasKeyForm(header) ? keyDigest(header) : undefined;
      const member = digest === undefined ? undefined : members.memberByKeyDigest(digest);
      if (!isAuthorized(member, nowMs())) {
        throw new ClientError('key_invalid', 'Invalid Subscriber Key', {
          hint: 'Fetch your current key from the operator terminal.',
        });
      }
      const account: Account = {
        id: accountIdOf(member),
        tier: member.tier,
        expiresAt: member.expiresAt,
        isAdmitted: () => isAuthorized(members.memberByKeyDigest(member.keyDigest), nowMs()),
      };
      admitted.set(header!, account);
      return account;
    },
  };
}

/** Maximum number of cached accounts. A full cache takes about 3 MB. The server clears a full cache. */
const ADMITTED_MAX = 10_000;

/** Number of hex digits in an account's id. 16 digits are 64 bits of the digest, so ids are unique and still fit into a log line. */
const ACCOUNT_ID_LENGTH = 16;

function accountIdOf({ keyDigest }: Member): string {
  return keyDigest.slice(0, ACCOUNT_ID_LENGTH);
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
