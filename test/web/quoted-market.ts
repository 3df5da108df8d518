import { chainOf, EXPIRY, LATER, quoted, range } from '../analytics/small-chains.ts';
import { smallMarket } from '../operations/small-market.ts';

const rows = [EXPIRY, LATER].flatMap((expiry) =>
  quoted({ strikes: range(85, 115), expiry, halfSpread: 0.01, rest: { openInterest: 100, volume: 10 } }),
);

/** A market with quotes of two expiries, whose answers the page shows. */
export const { context } = smallMarket({ chains: [chainOf(rows)] });
