import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../src/market/chain.ts';
import { getLiveGexNodes } from '../src/operations/gex/gex-nodes.ts';
import { detectLethalNodes } from '../src/operations/gex/lethal-nodes.ts';
import { evaluateMarketHamiltonian } from '../src/operations/gex/market-hamiltonian.ts';
import { calculateMertonProbability } from '../src/operations/surface/merton-probability.ts';
import { runStrategicOmniRadar } from '../src/operations/surface/omni-radar.ts';
import { getVolatilitySurface } from '../src/operations/surface/surface-report.ts';
import { recordedChain, recordedNames } from '../test/analytics/recorded.ts';
import { call, callExtended, callRoute, contextOf } from '../test/operations/small-market.ts';

/** The figures of version 0.2.0 from the recorded chains. `bun scripts/law-figures.ts`, run in that version, writes the file. */
const BEFORE = join(import.meta.dir, '../test/analytics/law-figures.json');

/** Figures of one chain, by group and name. */
type LawFigures = Record<Group, Record<string, unknown>>;
type Group = keyof typeof REASONS;

/** The groups of figures, with the reasons for their changes. */
const REASONS = {
  levels: 'Levels of all expiries.',
  feed: 'The same with `iv=feed`.',
  charm:
    'The exposure to time now is the trade along the forward, without contracts that settle within two days near the forward. Before, it was a change of measure.',
  nodes:
    'The ten nodes of `detect_lethal_nodes`: the sum of `Delta_Flux_j` changes for series that settle within two days, as above.',
  radar:
    'Boundaries are of the next 35 days. The two amounts for the Hamiltonian are those of all expiries, as before.',
  hamiltonian: 'The energy with the amounts of the radar and an `iv_crush_factor` of 1.',
  probabilities:
    'At strikes of 0.9 to 1.1 times spot, 30 days. *Ending*: tails no longer rise, and a night has half the weight of a session. *Touching*: by continuous paths, before by about one jump.',
  surface: 'At 30 days. Before, most of the fourth moment lay on the last node.',
} as const;
const LEVELS = ['max_pain', 'call_wall', 'put_wall', 'gex_flip', 'net_gex_mil', 'expiry'];
const STRIKES = [0.9, 0.95, 1.05, 1.1];

/** Returns the figures of a chain that the contract states, and those of the surface at 30 days. */
export function lawFigures(chain: Chain): LawFigures {
  const context = contextOf(chain);
  const ticker = chain.underlying;
  const pick = (body: Record<string, unknown>, names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, body[name] ?? null]));
  const nodes = call(detectLethalNodes, { ticker }, context).top_nodes as Record<string, number>[];
  const sum = (name: string) => nodes.reduce((total, node) => total + node[name]!, 0);
  const boundaries = call(runStrategicOmniRadar, { ticker }, context).gex_boundaries as Record<string, number>;
  const amounts = pick(boundaries, ['whale_fiat_kinetic', 'gex_potential_friction']);
  const probabilities = STRIKES.map((share) => {
    const args = { ticker, spot_price: chain.spot, ambush_strike: share * chain.spot, days_to_expiry: 30 };
    const answer = callExtended(calculateMertonProbability, args, context);
    return [share, answer.merton_probability, answer.touch_probability] as const;
  });
  const { maturities } = callRoute(getVolatilitySurface, { ticker }, context) as {
    maturities: Record<string, (number | null)[]>;
  };
  const month = maturities.days!.indexOf(30);
  return {
    levels: {
      ...pick(callRoute(getLiveGexNodes, { ticker }, context), LEVELS),
      ...pick(callExtended(getLiveGexNodes, { ticker }, context), ['net_dex_mil', 'net_vex_mil']),
    },
    feed: pick(callRoute(getLiveGexNodes, { ticker, iv: 'feed' }, context), LEVELS),
    charm: pick(callExtended(getLiveGexNodes, { ticker }, context), ['net_cex_mil']),
    nodes: { Dealer_Share_Exposure: sum('Dealer_Share_Exposure'), Delta_Flux_j: sum('Delta_Flux_j') },
    radar: { ...amounts, ...pick(boundaries, ['call_wall', 'put_wall', 'gex_flip']) },
    hamiltonian: call(evaluateMarketHamiltonian, { ticker, ...amounts, iv_crush_factor: 1 }, context),
    probabilities: Object.fromEntries(
      probabilities.flatMap(([share, end, touch]) => [
        [`ending, ${share}`, end],
        [`touching, ${share}`, touch],
      ]),
    ),
    surface: Object.fromEntries(
      ['atm_iv', 'skew_25d', 'variance_swap_iv', 'skewness', 'kurtosis'].map((name) => [
        name,
        month < 0 ? null : maturities[name]![month]!,
      ]),
    ),
  };
}

/** Returns the figures of version 0.2.0 by the name of the chain. */
export function figuresBefore(): Record<string, LawFigures> {
  return JSON.parse(readFileSync(BEFORE, 'utf8'));
}

/** Returns the tables of the figures of the recorded chains that differ from those of version 0.2.0. */
export function lawChanges(dir: string): string {
  const before = figuresBefore();
  const rows = recordedNames(dir)
    .filter((name) => name in before)
    .map((name) => ({ name, old: before[name]!, own: lawFigures(recordedChain(dir, name)) }));
  const equal: string[] = [];
  const tables = (Object.keys(REASONS) as Group[]).flatMap((group) => {
    const names = Object.keys(rows[0]!.own[group]);
    const moved = names.filter((name) => rows.some(({ old, own }) => old[group][name] !== own[group][name]));
    for (const name of names) if (!moved.includes(name)) equal.push(`\`${name}\` (${group})`);
    if (moved.length === 0) return [];
    const cells = rows
      .map(({ name, old, own }) => [name, ...moved.map((each) => change(old[group][each], own[group][each]))])
      .filter(([, ...changes]) => changes.some((each) => each !== SAME));
    const lines = [['chain', ...moved.map((each) => `\`${each}\``)], ['---', ...moved.map(() => '---')], ...cells];
    return [`${REASONS[group]}\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}`];
  });
  return [
    `### What changed since version 0.2.0

Figures of the recorded chains in version 0.2.0 and now. Equal to the digit on all chains: ${equal.join(', ')}. A chain without a change has no row, and *=* stands for an equal figure.`,
    ...tables,
  ].join('\n\n');
}

const SAME = '=';

function change(before: unknown, now: unknown): string {
  return before === now ? SAME : `${text(before)} → ${text(now)}`;
}

function text(value: unknown): string {
  if (typeof value !== 'number') return value === null || value === undefined ? 'none' : String(value);
  return String(Number(value.toPrecision(4)));
}

if (import.meta.main) {
  const dir = process.env.ZOMMA_RECORDED_CHAINS!;
  const all = recordedNames(dir).map((name) => [name, lawFigures(recordedChain(dir, name))]);
  writeFileSync(BEFORE, `${JSON.stringify(Object.fromEntries(all))}\n`);
}
