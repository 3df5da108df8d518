import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { bothFigures } from '../../scripts/law-figures.ts';
import { METHODS_PAGE, recordedPage } from '../../scripts/recorded-table.ts';
import { DAY_MS } from '../../src/market/calendar.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { recordedChain } from './recorded.ts';
import { preparedChain } from './small-chains.ts';

describeRecorded('the recorded chains in docs/methods/recorded.md', (dir) => {
  test('equals the current output of the analysis (bun run gen)', () => {
    expect(readFileSync(METHODS_PAGE, 'utf8')).toBe(recordedPage(dir));
  });
});

/** Figures that all chains have in common with the version before, by group. Null stands for all of the group. */
const EQUAL = {
  levels: null,
  feed: null,
  nodes: ['Dealer_Share_Exposure'],
  radar: ['max_pain'],
  friction: ['whale_fiat_kinetic', 'State', 'Behavior', 'Directive'],
  density: ['institutional_concentration_pct'],
  expiries: ['max_pain', 'net_gex'],
} as const;

describeRecorded('figures of the version before', (dir) => {
  test.each(bothFigures(dir))('$name: levels, also with `iv=feed`, are equal to the digit', ({ name, old, own }) => {
    for (const [group, names] of Object.entries(EQUAL)) {
      const [before, now] = [old, own].map((each) => each[group as keyof typeof EQUAL]);
      for (const each of names ?? Object.keys(before!))
        expect([group, each, now![each]]).toEqual([group, each, before![each]]);
    }
    const { chain, series } = preparedChain(recordedChain(dir, name));
    const isNear = series.some(({ series: { settlesAt } }) => settlesAt < chain.asOf + 2 * DAY_MS);
    if (!isNear) expect([own.charm, own.nodes]).toEqual([old.charm, old.nodes]);
  });
});
