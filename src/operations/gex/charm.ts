import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { countOpenStrikes } from '../../analytics/exposure/day-ahead.ts';

/** The description of charm exposures, without the unit. */
export const CHARM_EXPOSURE =
  'Charm exposure: change of delta exposure over the coming calendar day along the forward, without open strikes: contracts that settle ' +
  'within two days and within one standard deviation of the forward';

/** Returns a note with the number of contracts that charm exposures leave out. Otherwise returns an empty list. */
export function charmNotes(prepared: PreparedChain): string[] {
  const count = countOpenStrikes(prepared);
  if (count === 0) return [];
  return [
    `Charm exposure leaves out ${count} ${count === 1 ? 'contract' : 'contracts'} that settle soon and within one standard deviation of the forward.`,
  ];
}
