import { expect, test } from 'bun:test';
import { getGexCombined } from '../../../src/operations/gex/gex-combined.ts';
import { getGexMatrix } from '../../../src/operations/gex/gex-matrix.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexProfile } from '../../../src/operations/gex/gex-profile.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { chainOf, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { callExtended, performRoute, performTool, smallMarket } from '../small-market.ts';

// An hour before settlement, one standard deviation is 0.32 % of the forward.
const rows = [
  ...quoted({ strikes: range(99.6, 100.4, 0.2), expiry: TODAY, halfSpread: 0.001, rest: { openInterest: 7 } }),
  ...quoted({ strikes: range(90, 110, 2), rest: { openInterest: 5 } }),
].map((row) => (row.callPut === 1 ? row : { ...row, openInterest: 3 }));
const CHAINS = ['ACME', 'OTHER'].map((underlying) =>
  chainOf(
    rows.map((row) => ({ ...row, root: underlying })),
    { underlying },
  ),
);
const NOTE = 'Charm exposure leaves out 6 contracts that settle soon and within one standard deviation of the forward.';

test.each([
  ['strikes', getGexByStrike, {}, [NOTE]],
  ['profile', getGexProfile, {}, [NOTE]],
  ['matrix of charm', getGexMatrix, { measure: 'charm' }, [NOTE]],
  ['matrix of gamma', getGexMatrix, { measure: 'gamma' }, []],
  ['combined', getGexCombined, { with: 'OTHER' }, [`ACME: ${NOTE}`, `OTHER: ${NOTE}`]],
  ['levels without charm exposure', getLiveGexNodes, {}, []],
  ['a later expiry', getGexByStrike, { expiries: '2026-01-16' }, []],
])('answers with charm exposure say how many contracts it leaves out: %s', (_what, operation, args, expected) => {
  const { context } = smallMarket({ chains: CHAINS });
  const { provenance } = performRoute(operation, { ticker: 'ACME', ...args }, context);
  expect(provenance!.notes.filter((each) => each.includes('Charm exposure'))).toEqual(expected);
});

test('the extended levels say so too, and their charm exposure is that of the other contracts', () => {
  const { context } = smallMarket({ chains: CHAINS });
  const { net_cex_mil, provenance } = callExtended(getLiveGexNodes, { ticker: 'ACME' }, context) as {
    net_cex_mil: number;
    provenance: { notes: string[] };
  };
  expect(provenance.notes).toContain(NOTE);
  expect(performTool(getLiveGexNodes, { ticker: 'ACME' }, context).provenance!.notes).not.toContain(NOTE);
  const others = rows.filter(({ expiry, strike }) => expiry !== TODAY || Math.abs(strike - 100) > 0.3);
  const alone = smallMarket({
    chains: [chainOf(rows.map((row) => (others.includes(row) ? row : { ...row, openInterest: 0 })))],
  });
  const { net_cex_mil: expected } = callExtended(getLiveGexNodes, { ticker: 'ACME' }, alone.context);
  expect(net_cex_mil / (expected as number)).toBeCloseTo(1, 12);
});
