/**
 * The tiers of a membership. The value of a tier states whether the server accepts the API keys of its members. The operator can add a
 * member with the tier `none`, which has no access, and raise the tier later. All eligible tiers have the same rights. The names of tiers
 * are only for the operator's records. `demo` is the tier of the member that `zomma start` adds.
 */
export const TIERS = {
  none: { eligible: false },
  member: { eligible: true },
  pro: { eligible: true },
  demo: { eligible: true },
} as const;

export type Tier = keyof typeof TIERS;

/** The tier of a new member if the operator does not choose a tier. */
export const DEFAULT_TIER: Tier = 'member';

/**
 * Returns whether the server accepts the API keys of members of a tier. Returns false for an unknown name, for example from a row that a
 * newer version wrote.
 */
export function isEligible(tier: string): boolean {
  return isTier(tier) && TIERS[tier].eligible;
}

/** Returns whether the text is the name of a tier. */
export function isTier(name: string): name is Tier {
  return Object.hasOwn(TIERS, name);
}
