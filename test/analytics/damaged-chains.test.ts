import { expect, test } from 'bun:test';
import { type AnalysisOptions, DEFAULT_OPTIONS } from '../../src/analytics/chain/options.ts';
import { prepareChain } from '../../src/analytics/chain/prepare.ts';
import type { PreparedChain } from '../../src/analytics/chain/prepared-chain.ts';
import { concentratedStrikes, expiringGamma } from '../../src/analytics/exposure/gamma-concentration.ts';
import { gexLevels } from '../../src/analytics/exposure/gex-levels.ts';
import { hedgingNodes } from '../../src/analytics/exposure/hedging-nodes.ts';
import { maxPain } from '../../src/analytics/exposure/max-pain.ts';
import { largePrints } from '../../src/analytics/flow/flow.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { CLIENT_ERRORS, ClientError } from '../../src/core/errors.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { buildChain } from '../../src/market/build-chain.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { Print } from '../../src/market/prints.ts';
import { sumOf } from '../../src/market/prints.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import type { Context } from '../../src/operations/engine/operation.ts';
import { reportGex } from '../../src/operations/gex/gex-report.ts';
import { REGISTRY } from '../../src/operations/registry.ts';
import { callExtended } from '../operations/small-market.ts';
import { IS_FULL } from '../support/size.ts';
import { tapeColumnsOf, tapeOf } from '../support/tapes.ts';
import { DAMAGES, type DamagedDelivery, damagedDelivery } from './damaged-chains.ts';

const CHAINS = IS_FULL ? 2000 : 250;
/** A batch takes one to two seconds on an idle machine. */
const BATCH = 250;

/** Besides the defaults, each chain is analysed with one of these options. */
const READINGS: readonly Partial<AnalysisOptions>[] = [
  { forward: 'flat', rate: 0, iv: 'own', gamma: 'feed' },
  { forward: 'flat', rate: -0.05, dividend: 0.3 },
  { iv: 'own' },
  { gamma: 'feed', weight: 'volume' },
  { weight: 'volume', expiries: { kind: '0dte' } },
  { iv: 'own', expiries: { kind: 'next', days: 30 } },
  { expiries: { kind: 'date', date: '2026-01-16' } },
];

const seen = new Set<string>();
let answered = 0;

test.each(Array.from({ length: CHAINS / BATCH }, (_, batch) => [batch * BATCH, (batch + 1) * BATCH - 1]))(
  'damaged chains %d to %d: finite answers with correct counts, or a rejection',
  (first, last) => {
    for (let seed = first; seed <= last; seed++) {
      const delivery = damagedDelivery(seed);
      for (const damage of delivery.damages) seen.add(damage);
      try {
        judge(delivery, seed);
      } catch (error) {
        const damages = delivery.damages.join(', ');
        throw new Error(`seed ${seed} (${delivery.head.underlying}: ${damages}): ${error}`, { cause: error });
      }
    }
  },
);

test('every kind of damage occurs, and most chains can still be analysed', () => {
  expect(DAMAGES.filter((damage) => !seen.has(damage))).toEqual([]);
  expect(answered).toBeGreaterThan(CHAINS / 2);
});

function judge(delivery: DamagedDelivery, seed: number): void {
  const chain = refusable(() => buildChain(delivery.head, delivery.rows));
  if (!chain) return;
  const { bad_contract = 0, foreign_underlying = 0, duplicate = 0 } = chain.refused;
  same('rows', chain.count + bad_contract + foreign_underlying + duplicate, delivery.rows.length);
  judgeOperations(chain, seed);
  for (const reading of [{}, READINGS[seed % READINGS.length]!]) {
    const prepared = refusable(() => runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS, ...reading })));
    if (!prepared) continue;
    answered++;
    judgeCounts(prepared);
    judgeLevels(prepared);
    if (seed % 8 === 1) judgeSurface(prepared, seed);
  }
}

function judgeCounts({ chain, counts, count, iv, series }: PreparedChain): void {
  const { settled, adjusted, other_expiry, no_volatility } = counts.left_out;
  const { taken, solved, interpolated, extended } = counts.iv;
  same('contracts', counts.contracts, chain.count);
  same('contracts that are somewhere', counts.used + settled + adjusted + other_expiry, counts.contracts);
  same('contracts used', counts.used, count);
  same('their volatilities', taken + solved + interpolated + extended + no_volatility, counts.used);
  same('volatilities not known', iv.filter((each) => Number.isNaN(each)).length, no_volatility);
  for (const { tte, forward, rate, dividend, smile } of series) {
    finite({ tte, forward, rate, dividend, x: [...smile.logMoneyness], w: [...smile.totalVariance] }, 'series');
    holds('a forward is a price', forward > 0 && tte > 0);
    holds(
      'variance is positive',
      smile.totalVariance.every((each) => each > 0),
    );
  }
}

function judgeLevels(prepared: PreparedChain): void {
  const { chain } = prepared;
  const levels = runToCompletion(gexLevels(prepared, new Map()));
  finite(reportGex(prepared, levels), 'levels');
  const { exposures, walls, flip, dominant } = levels;
  const strikes = new Set(prepared.strike);
  holds('net is at most gross', Math.abs(exposures.gex) <= exposures.grossGex * (1 + 1e-12));
  holds('walls are strikes', strikes.has(walls.call.strike) && strikes.has(walls.put.strike));
  holds('a call wall is above', !walls.call.sided || walls.call.strike >= chain.spot);
  holds('a put wall is below', !walls.put.sided || walls.put.strike <= chain.spot);
  holds('the flip is within half of spot', Math.abs(flip.level / chain.spot - 1) <= 0.5 + 1e-12);
  for (const series of prepared.series) {
    holds(
      'max pain is a strike',
      prepared.strike.subarray(series.start, series.end).includes(maxPain(prepared, series)),
    );
  }
  for (const works of [concentratedStrikes(prepared), concentratedStrikes(prepared, dominant)]) {
    const strikesOf = runToCompletion(works);
    const share = strikesOf.reduce((sum, each) => sum + each.share, 0);
    holds('concentration is a share', share >= 0 && share <= 1 + 1e-9);
  }
  finite({ expiring: expiringGamma(prepared), nodes: hedgingNodes(prepared, 10) }, 'nodes');
}

/** Surface fits are slow: every eighth chain, besides those that the radar analyses. */
function judgeSurface(prepared: PreparedChain, seed: number): void {
  const surface = runToCompletion(fitSurface(prepared));
  if (!surface.hasLaws) return;
  const days = [0.1, 30, 700][seed % 3]!;
  const { law, ...figures } = surface.lawAt(prepared.chain.asOf + days * 86_400_000);
  finite(figures, 'surface');
  probability('that of the forward', law.below(1));
  const mass = law.masses.reduce((sum, each) => sum + each, 0);
  const mean = law.masses.reduce((sum, each, i) => sum + each * law.nodes[i]!, 0);
  holds(`mass ${mass} and mean ${mean} are one`, Math.abs(mass - 1) < 1e-10 && Math.abs(mean - 1) < 1e-10);
}

function judgeJumps(
  ticker: string,
  chain: Chain,
  ask: (operation: unknown, args: object) => Record<string, unknown> | undefined,
): void {
  for (const [days_to_expiry, stag_prob, moneyness] of [
    [0, 0.5, 1.02],
    [30, 1, 0.9],
    [700, 0.001, 3],
  ] as const) {
    const spot_price = Math.min(Math.max(chain.spot, 0.01), 1e5);
    const args = { ticker, spot_price, ambush_strike: spot_price * moneyness, days_to_expiry, stag_prob };
    const answer = ask(REGISTRY.calculate_merton_probability, args);
    if (answer) probability('merton', answer.merton_probability as number);
  }
}

/** Checks the answers that a client receives. `perform` rejects an answer that violates its schema, as NaN does. */
function judgeOperations(chain: Chain, seed: number): void {
  const context = contextOf(chain, seed);
  const ticker = chain.underlying;
  const expiry = chain.series[seed % chain.series.length]!.expiry;
  const ask = (operation: unknown, args: object) =>
    refusable(() => {
      const answer = callExtended(operation, args, context);
      finite(answer, (operation as { name: string }).name);
      return answer;
    });
  ask(REGISTRY.get_live_gex_nodes, { ticker });
  ask(REGISTRY.get_whale_prints, { ticker, target_expiry: expiry });
  ask(REGISTRY.detect_lethal_nodes, { ticker });
  ask(REGISTRY.evaluate_etf_contagion, {
    ...{ single_name_ticker: ticker, whale_fiat: 1e6, current_iv: 0.5, iv_ceiling: 0.4 },
  });
  for (const operation of [REGISTRY.get_flow_by_aggressor, REGISTRY.get_signed_prints]) {
    ask(operation, { ticker, days: 30, min_premium: 0, limit: 10 });
  }
  const strikes = ask(REGISTRY.get_gex_by_strike, { ticker }) as { net_gex: number[] } | undefined;
  const matrix = ask(REGISTRY.get_gex_matrix, { ticker, band: 10 }) as Record<string, number> | undefined;
  holds('a matrix exists if the sums by strike exist', (matrix === undefined) === (strikes === undefined));
  if (strikes && matrix) {
    const [net, gross] = [strikes.net_gex, strikes.net_gex.map(Math.abs)].map((column) =>
      column.reduce((sum, each) => sum + each, 0),
    ) as [number, number];
    holds('a matrix has all gamma', Math.abs(matrix.within_band! + matrix.left_out! - net) <= 1e-9 * gross);
  }
  if (seed % 7 === 1) ask(REGISTRY.get_gex_view, { ticker });
  // A fifth of the chains here, and another quarter below: the fits of densities and jumps take nearly all of the time.
  if (seed % 5 === 2) judgeJumps(ticker, chain, ask);
  if (seed % 4 !== 0) return;
  const scan = ask(REGISTRY.run_strategic_omni_radar, { ticker, target_dte: [0, 10, 400][seed % 3]! });
  if (!scan) return;
  const density = scan.state_density as Record<string, number> & { quantiles: Record<string, number> };
  const quantiles = Object.values(density.quantiles);
  holds(
    'quantiles ascend',
    quantiles.every((each, i) => i === 0 || each >= quantiles[i - 1]!),
  );
  holds('quantiles are prices', quantiles[0]! > 0);
  const parts = ['below_put_wall', 'between_walls', 'above_call_wall'].map((part) => density[`probability_${part}`]!);
  same('probability', Math.round(1e9 * parts.reduce((sum, each) => sum + each, 0)), 1e9);
  const index = scan.whipsaw_risk_index as number | null;
  holds('the whipsaw index is 0 to 100', index === null || (index >= 0 && index <= 100 + 1e-9));
}

/** Returns `undefined` if the work is rejected with a clear error. */
function refusable<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    holds(
      `a refusal says why: ${error.code}`,
      error.code in CLIENT_ERRORS && error.status < 500 && error.message.length > 10,
    );
    return undefined;
  }
}

/** A market with only this chain and without a store, which has its own tests. Every third market has a tape. */
function contextOf(chain: Chain, seed: number): Context {
  const prints = seed % 3 === 0 ? printsOf(chain, seed) : [];
  return {
    market: {
      isPast: false,
      isSimulated: false,
      nameOf: (spelling) => spelling,
      isByName: () => false,
      quotedAt: () => chain.asOf,
      tickersWithChain: () => [],
      chain: () => chain,
      tracked: () => chain.underlying,
      findChain: () => chain,
      flow: () => largePrints(prints, 100_000).map(sumOf),
      printsKeptFrom: () => 0,
      largeOn: () => ({ version: String(seed), columns: [tapeColumnsOf(largePrints(prints, 100_000))] }),
      tape: () => tapeOf(prints, String(seed)),
      hasPrints: () => prints.length > 0,
      recentChainIds: () => [1],
      chainById: () => chain,
      closes: () => [],
      officialCloses: () => [],
      dividends: () => [],
      levelsDue: () => 0,
      lastLevelsAt: () => undefined,
      levelTimes: () => [],
      levels: () => [],
      levelSpots: () => [],
      nextChainFrom: () => undefined,
      levelsVersion: () => '',
      newestLevels: () => [],
      volatilitiesOfDays: () => [],
      at() {
        return this;
      },
    },
    universe: STANDARD_UNIVERSE,
    nowMs: () => chain.asOf,
    feedStates: () => [],
    clockSteps: () => [],
    gapsIn: () => [],
    ...{ staleAfterMs: 1, largePrintMinUsd: 100_000, contagionMinUsd: 1_000_000 },
  };
}

/** Trades of the chain's contracts, some with impossible values: quotes crossed or missing, sizes above open interest, deltas of 0. */
function printsOf(chain: Chain, seed: number): Print[] {
  return Array.from({ length: 24 }, (_, i): Print => {
    const row = (seed * 31 + i * 17) % chain.count;
    const { root, expiry } = chain.series[chain.seriesIndex[row]!]!;
    const price = [0.01, 1.5, 99_999][i % 3]!;
    return {
      ...{ id: `p${i}`, underlying: chain.underlying, root, expiry, strike: chain.strike[row]!, multiplier: 100 },
      ...{ callPut: chain.callPut[row] === 1 ? 1 : -1, price, size: [1, 500, 1e7][i % 4] ?? 3, at: chain.asOf - i },
      side: (['ask', 'bid', 'mid', null] as const)[i % 4]!,
      bid: i % 5 === 0 ? null : 1.4,
      ask: i % 7 === 0 ? 1.2 : 1.6,
      ...{ delta: i % 2 === 0 ? null : 0.5, multiLeg: i % 6 === 0, sweep: false, block: false },
      ...{ canceled: i % 11 === 10, simulated: false },
    };
  });
}

/** Throws if a number in the answer, at any depth, is not finite. */
function finite(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${path} is ${value}`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value)) finite(each, `${path}.${key}`);
}

function probability(what: string, value: number): void {
  holds(`${what} ${value} is a probability`, value >= 0 && value <= 1);
}

function holds(what: string, truth: boolean): void {
  if (!truth) throw new Error(`not so: ${what}`);
}

function same(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`);
}
