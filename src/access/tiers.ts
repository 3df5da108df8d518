/**
 * The tiers a membership can have, and whether each may hold an API key. A member can be entered as `none` (known to the
 * operator, without access) and raised later; the eligible ones differ by name only, for the operator's own books; `demo` is the member that `zomma start` makes.
 */
export const TIERS = {
  none: { eligible: false },
  member: { eligible: true },
  pro: { eligible: true },
  demo: { eligible: true },
} as const;

export type Tier = keyof typeof TIERS;

/** The tier of a member added without one. */
export const DEFAULT_TIER: Tier = 'member';

/** Whether a tier may hold a key. A name not in the table (a row written by a newer version) may not. */
export function isEligible(tier: string): boolean {
  return isTier(tier) && TIERS[tier].eligible;
}

export function isTier(name: string): name is Tier {
  return Object.hasOwn(TIERS, name);
}
