import { expect, test } from 'bun:test';
import type { AnalysisOptions } from '../../../src/analytics/chain/options.ts';
import { computeLevelRecord } from '../../../src/analytics/exposure/compute-level-record.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { newYorkDate } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import { getGexCombined } from '../../../src/operations/gex/gex-combined.ts';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes, recordedGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { getGexProfile } from '../../../src/operations/gex/gex-profile.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { chainOf, contract, contractsIn, preparedChain, quoted, range } from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { callExtended, contextOf, performRoute, performTool, smallMarket } from '../small-market.ts';

/** The bounds that docs/methods/levels.md states. */
const LEAST_MARGIN = 2.5;
const LEAST_PROBABILITY = 0.8;

/** The largest chain takes some seconds. */
const SLOW_MS = 30_000;

interface Contract {
  readonly gex: number;
  readonly strike: number;
  readonly series: string;
  /** The series, the side and the bucket of moneyness. */
  readonly cell: string;
  readonly isCall: boolean;
  /** True if the series settles on the day of the snapshot and counts by the open interest of the day before. */
  readonly isUnknown: boolean;
}

interface Regime {
  readonly regime: string;
  readonly sign_margin_pct: number;
}

/** Computes the GEX of each contract from its volatility by the textbook formula, with calls long and puts short. */
function contractsOf(chain: Chain, options: Partial<AnalysisOptions> = {}): Contract[] {
  const ready = preparedChain(chain, options);
  return contractsIn(ready).map(({ callPut, spot, strike, tte, iv, rate, dividend, weight, multiplier, series }) => {
    const deviation = iv * Math.sqrt(tte);
    const d1 = (Math.log(spot / strike) + (rate - dividend) * tte) / deviation + deviation / 2;
    const density = Math.exp((-d1 * d1) / 2) / Math.sqrt(2 * Math.PI);
    const gamma = iv > 0 ? (Math.exp(-dividend * tte) * density) / (spot * deviation) : 0;
    const { root, expiry } = ready.series[series]!.series;
    const bucket = Math.floor(Math.log(strike / ready.series[series]!.forward) / 0.02 + 1e-9);
    return {
      gex: callPut * gamma * weight * multiplier * spot ** 2 * 0.01,
      ...{ strike, series: `${root} ${expiry}`, cell: `${root} ${expiry} ${callPut} ${bucket}`, isCall: callPut > 0 },
      isUnknown: options.weight !== 'volume' && expiry === newYorkDate(chain.asOf),
    };
  });
}

function marginOf(contracts: readonly Contract[]): number {
  const [long, short] = [1, -1].map((sign) => contracts.reduce((sum, { gex }) => sum + Math.max(0, sign * gex), 0)) as [
    number,
    number,
  ];
  return long + short > 0 ? (100 * Math.abs(long - short)) / 2 / (long + short) : 0;
}

/** Returns the probability of the sign by the prior that docs/methods/levels.md states. */
function probabilityOf(contracts: readonly Contract[]): number {
  const deviationOf = ({ gex, isUnknown }: Contract) => (Math.abs(gex) * (isUnknown ? 2 : 1.4)) / Math.sqrt(12);
  const squares = (groups: Map<unknown, Contract[]>) =>
    [...groups.values()].reduce((sum, group) => sum + group.reduce((all, each) => all + deviationOf(each), 0) ** 2, 0);
  const net = contracts.reduce((sum, { gex }) => sum + gex, 0);
  const mean = contracts.reduce((sum, { gex, isUnknown }) => sum + (isUnknown ? 0 : 0.3 * gex), 0);
  const variance =
    0.1 * squares(Map.groupBy(contracts, ({ isCall }) => isCall)) +
    0.9 * squares(Map.groupBy(contracts, ({ cell }) => cell));
  return variance > 0 ? normalCdf((Math.sign(net) * mean) / Math.sqrt(variance)) : 0.5;
}

function regimeOf(contracts: readonly Contract[]): Regime {
  const net = contracts.reduce((sum, { gex }) => sum + gex, 0);
  const margin = marginOf(contracts);
  const sign = net < 0 ? 'negative_gamma' : 'positive_gamma';
  return {
    regime: margin < LEAST_MARGIN || probabilityOf(contracts) < LEAST_PROBABILITY ? 'undetermined' : sign,
    sign_margin_pct: expect.closeTo(margin, 6) as unknown as number,
  };
}

const notesOf = (chain: Chain) => {
  const { body, provenance } = performRoute(getLiveGexNodes, { ticker: chain.underlying }, contextOf(chain));
  expect(Object.keys(body)).not.toContain('sign_margin_pct');
  return provenance!.notes.filter((note) => note.includes('the regime'));
};

/** The note on what dealers may hold, of an undetermined regime. */
const ASSUMED = (percent: number) =>
  `What dealers hold is assumed: the sign of net GEX is right with a probability of ${percent} %. Below 80 %, the regime is undetermined.`;

/** A call and a put of the same gamma, with this open interest. */
const ofBoth = (calls: number, puts: number) =>
  quoted({ strikes: [100] }).map((row) => ({ ...row, openInterest: row.callPut === 1 ? calls : puts }));

test.each([
  ['no gamma', [contract({ openInterest: 1 })], ['No contract has gamma, so the regime is undetermined.']],
  [
    'a call and a put of the same gamma',
    ofBoth(5, 5),
    [
      'Net GEX would be 0 if 0.0 % of gross gamma had the opposite sign: below 2.5 %, the regime is undetermined.',
      ASSUMED(50),
    ],
  ],
  [
    'a margin below the limit',
    ofBoth(48, 52),
    [
      'Net GEX would be 0 if 2.00 % of gross gamma had the opposite sign: below 2.5 %, the regime is undetermined.',
      ASSUMED(52),
    ],
  ],
  [
    'a margin just above the limit',
    ofBoth(53, 47),
    [
      'Net GEX would be 0 if 3.00 % of gross gamma had the opposite sign: below 2.5 %, the regime would be undetermined.',
      ASSUMED(53),
    ],
  ],
  ['a margin well above the limit', ofBoth(54, 46), [ASSUMED(53)]],
  ['calls only', quoted({ strikes: range(80, 120), rest: { openInterest: 5 } }).filter((row) => row.callPut === 1), []],
])('notes of the default answer: %s', (_what, rows, notes) => {
  const chain = chainOf(rows);
  expect(notesOf(chain)).toEqual(notes);
  if (rows.length < 2) return;
  const { provenance } = performTool(runStrategicOmniRadar, { ticker: chain.underlying }, contextOf(chain));
  expect(provenance!.notes.filter((note) => note.includes('the regime'))).toEqual(notes);
});

describeRecorded('recorded chains', (dir) => {
  const names = recordedNames(dir);

  test('have regimes and chains without one', () => {
    const regimes = new Set(names.map((name) => regimeOf(contractsOf(recordedChain(dir, name))).regime));
    expect([...regimes].sort()).toEqual(['negative_gamma', 'positive_gamma', 'undetermined']);
  });

  test.each(names)(
    '%s: every answer with net GEX has its sign margin',
    (name) => {
      const chain = recordedChain(dir, name);
      const context = contextOf(chain);
      const ask = (operation: unknown) => callExtended(operation, { ticker: chain.underlying }, context);
      const contracts = contractsOf(chain);
      const whole = regimeOf(contracts);

      const nodes = ask(getLiveGexNodes);
      expect(nodes).toMatchObject({ ...whole, regime_probability: expect.closeTo(probabilityOf(contracts), 9) });
      expect(nodes).toMatchObject({ by_volume: regimeOf(contractsOf(chain, { weight: 'volume' })) });
      const today = { expiries: { kind: '0dte' } } as const;
      if (nodes.zero_dte !== null) {
        expect(nodes.zero_dte).toMatchObject({
          ...regimeOf(contractsOf(chain, today)),
          sign_margin_volume_pct: regimeOf(contractsOf(chain, { ...today, weight: 'volume' })).sign_margin_pct,
        });
      }
      const radar = callExtended(runStrategicOmniRadar, { ticker: chain.underlying, expiry: 'all' }, context);
      expect(radar.gex_boundaries).toMatchObject(whole);
      expect(ask(getGexProfile)).toMatchObject(whole);
      const record = runToCompletion(computeLevelRecord(chain, new Map(), []));
      expect(recordedGexNodes({ ...record, seq: 1, source: 'test', keptAt: 0 })).toMatchObject(whole);

      const expiries = ask(getGexByExpiry) as Record<string, (string & number)[]>;
      const bySeries = Map.groupBy(contracts, ({ series }) => series);
      expect(expiries.sign_margin_pct).toEqual(
        expiries.root!.map((root, i) =>
          expect.closeTo(marginOf(bySeries.get(`${root} ${expiries.expiry![i]}`)!), 6),
        ) as never,
      );
      const strikes = ask(getGexByStrike) as Record<string, number[]>;
      const byStrike = Map.groupBy(contracts, ({ strike }) => strike);
      expect(strikes.sign_margin_pct!.length).toBe(byStrike.size);
      // Far from spot a gamma of 1e-200 keeps few digits.
      strikes.strike!.forEach((strike, i) => {
        const gross = byStrike.get(strike)!.reduce((sum, { gex }) => sum + Math.abs(gex), 0);
        if (gross > 1e-6) expect(strikes.sign_margin_pct![i]).toBeCloseTo(marginOf(byStrike.get(strike)!), 6);
      });
    },
    SLOW_MS,
  );

  test.each(names)('%s: the default answer has a note if the regime is undetermined', (name) => {
    const chain = recordedChain(dir, name);
    const contracts = contractsOf(chain);
    const expected = Number(marginOf(contracts) < 3.75) + Number(probabilityOf(contracts) < 0.85);
    expect(notesOf(chain).length).toBe(expected);
  });

  test('two tickers together', () => {
    const [first, second] = ['XLF', 'XLK'].map((ticker) =>
      recordedChain(dir, names.find((name) => name.startsWith(`${ticker} `))!),
    ) as [Chain, Chain];
    const { context } = smallMarket({ chains: [first, second] }, first.asOf);
    const answer = callExtended(getGexCombined, { ticker: 'XLF', with: 'XLK' }, context);
    expect(answer).toMatchObject(regimeOf([...contractsOf(first), ...contractsOf(second)]));
  });
});
