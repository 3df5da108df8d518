/**
 * The tiers of a membership, and whether the server accepts the keys of their members. All eligible tiers have the same rights: their names
 * are for the operator's records. `none` can be raised later. `zomma start` adds a member of the tier `demo`.
 */
export const TIERS = {
  none: { eligible: false },
  member: { eligible: true },
  pro: { eligible: true },
  demo: { eligible: true },
} as const;

export type Tier = keyof typeof TIERS;

export const DEFAULT_TIER: Tier = 'member';

/** Returns whether members of a tier have access. Returns false for an unknown name, for example of a newer version. */
export function isEligible(tier: string): boolean {
  return isTier(tier) && TIERS[tier].eligible;
}

/** Returns whether the text is the name of a tier. */
export function isTier(name: string): name is Tier {
  return Object.hasOwn(TIERS, name);
}
