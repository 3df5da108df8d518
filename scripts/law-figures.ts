import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chain } from '../src/market/chain.ts';
import { getGexByExpiry } from '../src/operations/gex/gex-expiries.ts';
import { getLiveGexNodes } from '../src/operations/gex/gex-nodes.ts';
import { detectLethalNodes } from '../src/operations/gex/lethal-nodes.ts';
import { evaluateMarketHamiltonian } from '../src/operations/gex/market-hamiltonian.ts';
import { calculateMertonProbability } from '../src/operations/surface/merton-probability.ts';
import { runStrategicOmniRadar } from '../src/operations/surface/omni-radar.ts';
import { getVolatilitySurface } from '../src/operations/surface/surface-report.ts';
import { recordedChain, recordedNames } from '../test/analytics/recorded.ts';
import { call, callExtended, callRoute, contextOf } from '../test/operations/small-market.ts';

/** The version of the figures before. */
const VERSION = '0.2.0';
/** The figures of `VERSION` from the recorded chains. `bun scripts/law-figures.ts`, run in that version, writes the file. */
const BEFORE = join(import.meta.dir, '../test/fixtures/law-figures.json');

/** Figures of one chain, by group and name. */
type LawFigures = Record<Group, Figures>;
type Figures = Record<string, unknown>;
type Group = keyof typeof REASONS;

/** The groups of figures, with the reasons for their changes. */
const REASONS = {
  levels: 'Levels of all expiries.',
  feed: 'The same with `iv=feed`.',
  charm:
    'Charm is the trade along the forward. It leaves out contracts within one standard deviation of a strike that settles within two days, which of these chains only SPX and RUT have. Before, it was a mean over the possible prices at that settlement.',
  nodes:
    'Sums over the hundred largest nodes of `detect_lethal_nodes`. `Delta_Flux_j` changes only for the same contracts, of which SPX has none among its hundred.',
  radar: 'Boundaries of the radar are of the next 35 days. Before, they were of all expiries.',
  friction:
    'The amounts for the Hamiltonian are of all expiries, as before. Friction is net GEX times the daily move at the volatility at the money of the radar (next table), and changes by the same share. The energy (with an `iv_crush_factor` of 1) contains it, and the whipsaw risk contains the volatility.',
  density:
    'The density of the radar, at the expiry nearest 30 days. Its tails fall beyond the quotes, the asks of options without a bid bound them, and quotes that later settlements contradict, or that are too far away, are left out (GOOGL, SPX and XLE). On AMZN, GOOGL, XLE and XLF, laws are also fitted again for the order in time; before, the bounds of this fit were too low, at the money by about 1 %. The walls of `probability_between_walls` are of 35 days.',
  expiries:
    'The expiry nearest 30 days in `/expiries` has the volatility and the skew of this density. Before, they came from the mids of the strikes next to the forward and to a delta of 25.',
  ending:
    '`merton_probability` for 30 days. Strikes are standard deviations of 30 days from spot. The laws are as above, and in trading time a night counts 0.5 of a session, before 0.15. Changes above 5 % are at strikes near or beyond the outermost quotes (XLE, XLF, XLK), where probability is extrapolated, or from quotes left out (XLE).',
  touching:
    '`touch_probability` at the same strikes. The path is continuous, with an eighth of random volatility. Before, about one jump took a part of the variance and could pass the strike unseen.',
  surface:
    'The surface at 30 days, by the laws and the night as above. Skewness and kurtosis are null (*none*) if more than half of the third or fourth moment lies beyond the quotes.',
} as const;
const LEVELS = ['max_pain', 'call_wall', 'put_wall', 'gex_flip', 'net_gex_mil', 'expiry'];
const BOUNDARIES = ['call_wall', 'put_wall', 'gex_flip', 'max_pain', 'net_gex_mil'];
const ENERGY = ['System_Energy', 'State', 'Behavior', 'Directive'];
const DENSITY = ['atm_iv', 'skewness', 'probability_between_walls'];
const SERIES = ['atm_iv', 'skew_25d', 'max_pain', 'net_gex'];
const SURFACE = ['atm_iv', 'skew_25d', 'variance_swap_iv', 'skewness', 'kurtosis'];
/** Strikes of probabilities, in standard deviations of the horizon from spot. */
const DEVIATIONS = [-2, -1, 1, 2];
/** The horizon of probabilities and of the surface, days. */
const MONTH = 30;
/** The number of nodes whose figures are summed: those of the largest page. */
const NODES = 100;

/** Returns the figures of a chain that the contract states, and those of the surface at 30 days. `atmIv` gives the strikes of probabilities. */
function lawFigures(chain: Chain, atmIv?: number): LawFigures {
  const context = contextOf(chain);
  const ticker = chain.underlying;
  const nodes = call(detectLethalNodes, { ticker, limit: NODES }, context).top_nodes as Record<string, number>[];
  const sum = (name: string) => nodes.reduce((total, node) => total + node[name]!, 0);
  const radar = call(runStrategicOmniRadar, { ticker }, context) as Record<string, Figures>;
  const amounts = pick(radar.gex_boundaries!, ['whale_fiat_kinetic', 'gex_potential_friction']);
  const { p05, p95 } = radar.state_density!.quantiles as Figures;
  const { maturities } = callRoute(getVolatilitySurface, { ticker }, context) as {
    maturities: Record<string, (number | null)[]>;
  };
  const at = maturities.days!.indexOf(MONTH);
  const surface = Object.fromEntries(SURFACE.map((name) => [name, maturities[name]![at] ?? null]));
  const deviation = (atmIv ?? surface.atm_iv!) * Math.sqrt(MONTH / 365);
  const probabilities = DEVIATIONS.map((each) => {
    const ambush_strike = chain.spot * Math.exp(each * deviation);
    const args = { ticker, spot_price: chain.spot, ambush_strike, days_to_expiry: MONTH };
    return callExtended(calculateMertonProbability, args, context);
  });
  const byStrike = (name: string) =>
    Object.fromEntries(
      probabilities.map((each, i) => [`${DEVIATIONS[i]! > 0 ? '+' : ''}${DEVIATIONS[i]} sd`, each[name]]),
    );
  const expiries = callRoute(getGexByExpiry, { ticker }, context) as Record<string, unknown[]>;
  const nearest = expiries.expiry!.indexOf(radar.state_density!.expiry);
  const extended = callExtended(getLiveGexNodes, { ticker }, context);
  const energy = call(evaluateMarketHamiltonian, { ticker, ...amounts, iv_crush_factor: 1 }, context);
  return {
    levels: {
      ...pick(callRoute(getLiveGexNodes, { ticker }, context), LEVELS),
      ...pick(extended, ['net_dex_mil', 'net_vex_mil']),
    },
    feed: pick(callRoute(getLiveGexNodes, { ticker, iv: 'feed' }, context), LEVELS),
    charm: pick(extended, ['net_cex_mil']),
    nodes: { Dealer_Share_Exposure: sum('Dealer_Share_Exposure'), Delta_Flux_j: sum('Delta_Flux_j') },
    radar: pick(radar.gex_boundaries!, BOUNDARIES),
    friction: { ...amounts, ...pick(energy, ENERGY), ...pick(radar, ['whipsaw_risk_index']) },
    density: {
      ...pick(radar.state_density!, DENSITY),
      ...{ p05, p95 },
      ...pick(radar, ['institutional_concentration_pct']),
    },
    expiries: Object.fromEntries(SERIES.map((name) => [name, expiries[name]![nearest] ?? null])),
    ending: byStrike('merton_probability'),
    touching: byStrike('touch_probability'),
    surface,
  };
}

function pick(body: Figures, names: readonly string[]): Figures {
  return Object.fromEntries(names.map((name) => [name, body[name] ?? null]));
}

/** Returns the figures before and now of each recorded chain that has figures before. */
export function bothFigures(dir: string) {
  const before: Record<string, LawFigures> = JSON.parse(readFileSync(BEFORE, 'utf8'));
  return recordedNames(dir).flatMap((name) => {
    const old = before[name];
    return old ? [{ name, old, own: lawFigures(recordedChain(dir, name), old.surface.atm_iv as number) }] : [];
  });
}

/** Returns the tables of the figures of the recorded chains that differ from those of `VERSION`. */
export function lawChanges(dir: string): string {
  const rows = bothFigures(dir);
  const equal: string[] = [];
  const tables = (Object.keys(REASONS) as Group[]).flatMap((group) => {
    const names = Object.keys(rows[0]!.own[group]);
    const moved = names.filter((name) => rows.some(({ old, own }) => old[group][name] !== own[group][name]));
    const same = names.filter((name) => !moved.includes(name)).map((name) => `\`${name}\``);
    if (same.length > 0) equal.push(`- *${group}*: ${same.join(', ')}`);
    if (moved.length === 0) return [];
    const cells = rows
      .map(({ name, old, own }) => [name, ...moved.map((each) => change(old[group][each], own[group][each]))])
      .filter(([, ...changes]) => changes.some((each) => each !== SAME));
    const lines = [['chain', ...moved.map((each) => `\`${each}\``)], ['---', ...moved.map(() => '---')], ...cells];
    return [`*${group}*. ${REASONS[group]}\n\n${lines.map((line) => `| ${line.join(' | ')} |`).join('\n')}`];
  });
  return [
    `## What changed since version ${VERSION}

Figures of the ${rows.length} recorded chains in version ${VERSION} and now, in groups. A chain without a change has no row, and *=* stands for an equal
figure. M stands for millions. Equal to the digit on all ${rows.length} chains:`,
    equal.join('\n'),
    ...tables,
  ].join('\n\n');
}

const SAME = '=';

/** Returns both values with as many digits as it takes to tell them apart, and at least four. */
function change(before: unknown, now: unknown): string {
  if (before === now) return SAME;
  for (let digits = 4; ; digits++) {
    const [old, own] = [text(before, digits), text(now, digits)];
    if (old !== own || digits === 17) return `${old} → ${own}`;
  }
}

function text(value: unknown, digits: number): string {
  if (typeof value !== 'number') return String(value ?? 'none');
  const isLarge = Math.abs(value) >= 1e6;
  return `${Number((isLarge ? value / 1e6 : value).toPrecision(digits))}${isLarge ? ' M' : ''}`;
}

if (import.meta.main) {
  const dir = process.env.ZOMMA_RECORDED_CHAINS!;
  const all = recordedNames(dir).map((name) => `"${name}":${JSON.stringify(lawFigures(recordedChain(dir, name)))}`);
  writeFileSync(BEFORE, `{\n${all.join(',\n')}\n}\n`);
}
