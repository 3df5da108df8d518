import { describe, expect, test } from 'bun:test';
import type { AnalysisOptions } from '../../../src/analytics/chain/options.ts';
import { gammaRegime, SIGN_MARGIN_MIN_PCT, signMarginPct } from '../../../src/analytics/exposure/sign-margin.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { gexByContract } from '../gex-by-contract.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { preparedChain } from '../small-chains.ts';

describe('the margin and the regime', () => {
  test.each([
    ['all gamma is long', 8, 8, 50, 'positive_gamma'],
    ['all gamma is short', -8, 8, 50, 'negative_gamma'],
    ['below the least margin', 4.99, 100, 2.495, 'undetermined'],
    ['short, below the least margin', -4.99, 100, 2.495, 'undetermined'],
    ['balanced', 0, 100, 0, 'undetermined'],
    ['no gamma', 0, 0, 0, 'undetermined'],
  ])('%s', (_what, gex, grossGex, margin, regime) => {
    expect(signMarginPct(gex, grossGex)).toBeCloseTo(margin, 12);
    expect<string>(gammaRegime({ gex, grossGex })).toBe(regime);
  });

  test.each([
    ['the least margin and probability of a regime', 5, 0.8, 'positive_gamma'],
    ['short, with the least margin and probability', -5, 0.8, 'negative_gamma'],
    ['below the least margin', 4.99, 0.99, 'undetermined'],
    ['below the least probability', 50, 0.799, 'undetermined'],
    ['without a probability, a small margin', 20, null, 'undetermined'],
    ['without a probability, a large margin', -30, null, 'negative_gamma'],
  ])('%s', (_what, gex, signProbability, regime) => {
    expect<string>(gammaRegime({ gex, grossGex: 100, signProbability })).toBe(regime);
  });
});

describeRecorded('recorded chains', (dir) => {
  const read = (name: string, options: Partial<AnalysisOptions>) => {
    const gex = [...gexByContract(preparedChain(recordedChain(dir, name), options))];
    return { gex, net: gex.reduce((sum, each) => sum + each, 0) };
  };

  test.each(recordedNames(dir))('%s: net GEX changes its sign if the margin is on the other side', (name) => {
    const { gex, net } = read(name, {});
    const gross = gex.reduce((sum, each) => sum + Math.abs(each), 0);
    // Moves contracts of the larger side to the other side until net GEX is 0. The last contract moves in part.
    let [left, moved] = [Math.abs(net), 0];
    for (const each of gex) {
      if (Math.sign(each) !== Math.sign(net)) continue;
      const part = Math.min(Math.abs(each), left / 2);
      moved += part;
      left -= 2 * part;
    }
    expect(left).toBeLessThan(1e-9 * gross);
    expect(signMarginPct(net, gross)).toBeCloseTo((100 * moved) / gross, 9);
  });

  // This is the reason for the bound. Sides that are not known would move net GEX much more.
  test.each(recordedNames(dir))('%s: a regime is the same by other readings of the quotes', (name) => {
    const { gex, net } = read(name, {});
    const gross = gex.reduce((sum, each) => sum + Math.abs(each), 0);
    if (signMarginPct(net, gross) < SIGN_MARGIN_MIN_PCT) return;
    const others = [{ gamma: 'feed' }, { iv: 'own' }, { forward: 'flat', rate: 0, dividend: 0, iv: 'own' }] as const;
    for (const options of others) expect(Math.sign(read(name, options).net)).toBe(Math.sign(net));
  });
});
