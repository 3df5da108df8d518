import { Failure, OperatorError } from '../errors.ts';
import { canonicalUuid, deriveKey, hasKeyForm, keyDigest } from './api-key.ts';
import type { Member, MemberStore } from './members.ts';
import { DEFAULT_TIER, isEligible, isTier, TIERS } from './tiers.ts';

/** Who is asking, as the rest of the server knows them. */
export interface Account {
  /** Opaque and stable for a member; tells nothing of the UUID or the key. */
  readonly id: string;
  readonly tier: string;
  /** Whether the key that was shown is still good: for what goes on after the request that showed it. */
  isAdmitted(): boolean;
}

export interface Access {
  /**
   * Admits a member, or gives a known one a new tier and expiry and lifts a revocation. The key is returned here and never
   * kept. `expiresAt` is in ms since the epoch; without it membership does not expire.
   *
   * @throws Failure invalid_parameter for a malformed UUID, an unknown tier or an expiry that is not a time.
   */
  addMember(request: MemberRequest): { member: Member; apiKey: string };
  /**
   * Withdraws a member's access at once, in every process on the store. Again is no error.
   *
   * @throws Failure invalid_parameter for a malformed UUID, not_found for a member never added.
   */
  revoke(uuid: string): Member;
  /**
   * The key of an authorized member.
   *
   * @throws Failure invalid_parameter for a malformed UUID; member_refused, the same in every respect, for a member who is
   * unknown, of an ineligible tier, revoked or expired, so that the answer does not tell who is a member.
   */
  issueKey(uuid: string): string;
  /**
   * Who the value of an `X-API-Key` header stands for. Writes of this process count at once, those of another process within 10 ms.
   *
   * @throws Failure key_missing where there is none; key_invalid, the same in every respect, for any key not good now.
   */
  authenticate(header: string | null): Account;
}

export interface MemberRequest {
  readonly uuid: string;
  readonly tier?: string | undefined;
  readonly expiresAt?: number | null | undefined;
}

export interface AccessParts {
  readonly members: MemberStore;
  /** The server's secret; asked for when a key is first derived, so that a server which never issues one makes none. */
  readonly secret: () => Uint8Array;
  /** The wall clock, ms since the epoch. */
  readonly now: () => number;
}

/** The one place that decides who may use the server. */
export function createAccess({ members, secret, now }: AccessParts): Access {
  let loaded: Uint8Array | undefined;
  /** Account cache by key, valid for one version of the store: most requests repeat a key. */
  const admitted = new Map<string, { readonly account: Account; readonly expiresAt: number | null }>();
  let admittedUnder = '';
  const keyOf = (uuid: string): string => {
    loaded ??= secret();
    return deriveKey(loaded, uuid);
  };

  return {
    addMember({ uuid: text, tier = DEFAULT_TIER, expiresAt = null }) {
      const uuid = canonicalUuid(text);
      requireTier(tier);
      requireTime(expiresAt);
      const apiKey = keyOf(uuid);
      const member: Member = { uuid, tier, status: 'active', expiresAt, keyDigest: keyDigest(apiKey) };
      members.saveMember(member);
      return { member, apiKey };
    },

    revoke(text) {
      const member = members.member(canonicalUuid(text));
      if (member === undefined) {
        throw new Failure('not_found', 'No such member', { hint: 'list the members to see who was added' });
      }
      const revoked: Member = { ...member, status: 'revoked' };
      members.saveMember(revoked);
      return revoked;
    },

    issueKey(text) {
      const uuid = canonicalUuid(text);
      // Derived before the member is looked at: the time taken does not tell a member from a stranger.
      const apiKey = keyOf(uuid);
      const digest = keyDigest(apiKey);
      const member = members.member(uuid);
      if (!isAuthorized(member, now())) {
        throw new Failure('member_refused', 'This account is not authorized for an API key', {
          hint: 'access needs an active membership of an eligible tier',
        });
      }
      // A key that the next request would refuse must not be handed out as good.
      if (member.keyDigest !== digest) {
        throw new OperatorError(
          'the secret is not the one this member was added under',
          'restore the secret file, or add the members again and have them fetch new keys',
        );
      }
      return apiKey;
    },

    authenticate(header) {
      const version = members.version();
      if (version !== admittedUnder || admitted.size >= ADMITTED_MAX) {
        admitted.clear();
        admittedUnder = version;
      }
      const known = header === null ? undefined : admitted.get(header);
      if (known && (known.expiresAt === null || now() < known.expiresAt)) return known.account;
      if (header === null || header === '') {
        throw new Failure('key_missing', 'The X-API-Key header is missing', {
          hint: 'send your API key in the X-API-Key header',
        });
      }
      // Two headers arrive joined by a comma and so have no key's form: which of them would count is not for us to guess.
      const digest = hasKeyForm(header) ? keyDigest(header) : undefined;
      const member = digest === undefined ? undefined : members.memberByKeyDigest(digest);
      if (!isAuthorized(member, now())) {
        throw new Failure('key_invalid', 'Invalid Subscriber Key', {
          hint: 'fetch your current key from the operator terminal',
        });
      }
      const account: Account = {
        id: member.keyDigest.slice(0, ACCOUNT_ID_LENGTH),
        tier: member.tier,
        isAdmitted: () => isAuthorized(members.memberByKeyDigest(member.keyDigest), now()),
      };
      admitted.set(header!, { account, expiresAt: member.expiresAt });
      return account;
    },
  };
}

/** Some 3 MB. The cache is cleared when it is full. */
const ADMITTED_MAX = 10_000;

/** 64 bits of the digest: no two members meet, and short enough for a log line. */
const ACCOUNT_ID_LENGTH = 16;

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
  throw new Failure('invalid_parameter', 'Unknown tier', {
    hint: `tier ${expected}`,
    faults: [{ field: '/tier', expected }],
  });
}

function requireTime(expiresAt: number | null): void {
  if (expiresAt === null || Number.isSafeInteger(expiresAt)) return;
  throw new Failure('invalid_parameter', 'The expiry is not a time', {
    hint: 'give whole milliseconds since 1970, or none for a membership that does not expire',
    faults: [{ field: '/expiresAt', expected: 'must be whole milliseconds since 1970' }],
  });
}
