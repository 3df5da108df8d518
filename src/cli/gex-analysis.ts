import type { ChainReadOptions } from '../analytics/chain/options.ts';
import { prepareChain, whyWithoutLevels } from '../analytics/chain/prepare.ts';
import type { PreparedChain } from '../analytics/chain/prepared-chain.ts';
import { exposuresByStrike } from '../analytics/exposure/exposures-by-strike.ts';
import { type GammaProfile, netGammaProfile } from '../analytics/exposure/gamma-profile.ts';
import { gexLevels } from '../analytics/exposure/gex-levels.ts';
import { HORIZONS, type Horizon, withinHorizon } from '../analytics/exposure/horizons.ts';
import { signMarginPct } from '../analytics/exposure/sign-margin.ts';
import { directionalPremium } from '../analytics/flow/flow.ts';
import { fitSurface } from '../analytics/surface/fit-surface.ts';
import { cleanLine, shownName } from '../core/clean-text.ts';
import { OperatorError } from '../core/errors.ts';
import { runToCompletion } from '../core/steps.ts';
import { type Chain, hasOpenInterest, onlyExpiryOf } from '../market/chain.ts';
import type { ChainRemarks } from '../market/feed.ts';
import type { PrintSum } from '../market/prints.ts';
import type { PrintsQuery } from '../market/tape.ts';
import { wallNotes } from '../operations/gex/gex-nodes.ts';
import { reportGex } from '../operations/gex/gex-report.ts';
import { horizonsOf, type WallOdds } from '../operations/gex/level-horizons.ts';
import { byPositions } from '../operations/gex/level-variants.ts';
import { signFiguresOf } from '../operations/gex/sign-figures.ts';
import { customerPositionsOf, withAssumedSign, withFlowSign } from '../operations/reading/dealer-sign.ts';
import type { GexPicture } from './plot/gex-plot.ts';
import type { Level } from './plot/line.ts';
import { csvText, formatCount } from './text-format.ts';

/** Distance from spot to each end of the gamma profile, as a fraction of spot. */
const PROFILE_HALF_WIDTH = 0.2;

/** The prints of a chain's underlying, in time order. */
export interface ChainPrints {
  /** The large prints of the flow window. The window ends at the time of the chain or of the last print, whichever is later. */
  readonly large: readonly PrintSum[];
  /** All prints up to the time of the chain. */
  readonly tape: PrintsQuery;
}

export type GexAnalysis = ReturnType<typeof analyseGex>;

/**
 * Prepares a chain and computes its levels with their provenance, and the levels by flow if there are prints. Throws `OperatorError` if
 * the chain lacks what `weight` and `sign` need, or if `sign` is `flow` and no unsettled contract has a print. Is not the operation
 * `get_live_gex_nodes`, which needs a market: a chain file has no closing prices for `hedging` and no tracked tickers. Both build their
 * reports with `reportGex` and `byPositions`, so both have the same fields. `notes` say what was odd in the chain's file.
 */
export function analyseGex(
  chain: Chain,
  { large, tape }: ChainPrints,
  { sign, ...options }: ChainReadOptions,
  remarks: ChainRemarks = {},
) {
  const { notes = [] } = remarks;
  const { cashDividends: _, ...reported } = options;
  const conventional = runToCompletion(prepareChain(chain, options));
  const missing = whyWithoutLevels({ ...conventional, sign });
  if (missing)
    throw new OperatorError(
      `${chain.underlying} ${missing}`,
      [...notes.map((each) => `${each}.`), WITHOUT_LEVELS].join(' '),
    );
  const positions = hasOpenInterest(chain) ? runToCompletion(customerPositionsOf(chain, tape)) : undefined;
  if (sign === 'flow' && !positions) {
    throw new OperatorError(
      `there are no prints of unsettled contracts of ${chain.underlying}`,
      'Name a tape with --prints, load one with `zomma ingest`, or leave --sign at its default.',
    );
  }
  const prepared = sign === 'flow' ? withFlowSign(conventional, positions!) : withAssumedSign(conventional, sign);
  const premium = directionalPremium(large);
  const onlyExpiry = onlyExpiryOf(chain);
  const levels = runToCompletion(gexLevels(prepared, premium));
  const report = {
    ...reportGex(prepared, levels, runToCompletion(fitSurface(prepared))),
    ...runToCompletion(signFiguresOf(prepared, positions)),
    horizons: runToCompletion(horizonsOf({ chain, prepared, large })),
    by_flow: positions ? runToCompletion(byPositions(conventional, positions)) : null,
    source: shownName(chain.source),
    simulated: chain.simulated,
    as_of: new Date(chain.asOf).toISOString(),
    options: { ...reported, sign },
    notes: [...(onlyExpiry === undefined ? [] : [onlyExpiry]), ...wallNotes(prepared, levels.walls), ...notes],
  };
  return { prepared, report, interest: interestGiven(chain, remarks) };
}

/** Says of how many contracts the open interest is given, or returns `undefined` if it is given of all. */
function interestGiven({ openInterest, count }: Chain, { second }: ChainRemarks): string | undefined {
  const without = openInterest.reduce((sum, each) => sum + Number(Number.isNaN(each)), 0);
  if (without === 0) return undefined;
  const { file, absent = 0 } = second ?? {};
  const blank = without - absent;
  const parts = [
    `open interest of ${formatCount(count - without)} of ${formatCount(count)}`,
    ...(absent > 0 ? [`${formatCount(absent)} of ${formatCount(count)} not in ${shownName(file!)}`] : []),
    ...(blank > 0 ? [`${formatCount(blank)} blank`] : []),
  ];
  return parts.join('; ');
}

const WITHOUT_LEVELS =
  'Levels need quotes and open interest. --weight volume weighs contracts by their volume of the day, if the chain has volumes. `zomma surface` needs neither.';

function profileAround(prepared: PreparedChain): GammaProfile {
  return runToCompletion(netGammaProfile(prepared, PROFILE_HALF_WIDTH));
}

/** Returns rows about flow: the share of open interest with known customer positions, and, without `--sign flow`, the levels by flow. */
function flowRows(
  { by_flow: flow, options }: GexAnalysis['report'],
  price: (value: number) => string,
): [string, string][] {
  if (!flow) return [];
  const signed = `covers ${flow.signed_share_pct.toFixed(1)} % of open interest, leaves out gross GEX of ${price(flow.unsigned_gex_mil)} million per 1 %`;
  if (options.sign === 'flow') return [['by flow', signed]];
  const flip = flow.flip_resolved ? price(flow.gex_flip) : 'unresolved';
  return [
    [
      'by flow',
      `${price(flow.net_gex_mil)} million per 1 %, sign margin ${flow.sign_margin_pct.toFixed(1)} %, flip ${flip}`,
    ],
    ['', `walls ${price(flow.call_wall)} and ${price(flow.put_wall)}; ${signed}`],
  ];
}

/** Returns a row with the zone of the flip and its band over smile dynamics, or none if the flip is not resolved. */
function zoneRows(
  { flip_zone: zone, flip_band: band }: GexAnalysis['report'],
  price: (value: number) => string,
): [string, string][] {
  if (!zone || band.low === null || band.high === null) return [];
  return [
    [
      'flip zone',
      `${price(zone.low)} to ${price(zone.high)}; by smile dynamics ${price(band.low)} to ${price(band.high)}`,
    ],
  ];
}

/** Returns the row of a wall, and rows on its distance, its firmness and the odds to touch it, as far as they are known. */
function wallRows(
  name: string,
  { strike, distance_sd, touch_1_session, touch_5_sessions, wall_lead_pct, wall_stability }: WallOdds,
  price: (value: number) => string,
): [string, string][] {
  const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
  const firmness = [
    distance_sd === null ? [] : `${distance_sd.toFixed(1)} sd of a session away`,
    wall_lead_pct === null ? [] : `lead ${wall_lead_pct.toFixed(0)} %`,
    wall_stability === null ? [] : `stays ${percent(wall_stability)}`,
  ].flat();
  const odds =
    touch_1_session === null || touch_5_sessions === null
      ? []
      : `touch ${percent(touch_1_session)} by the close, ${percent(touch_5_sessions)} in 5 sessions`;
  const rows = [price(strike), firmness.join(', '), odds].flat().filter((text) => text !== '');
  return rows.map((text, i) => [i === 0 ? name : '', text]);
}

const HORIZON_NAMES: Readonly<Record<Horizon, string>> = { session: 'session', '35d': '35 days', all: 'all' };

/** Formats the levels as a table: first those of a horizon, and those of the others in a line each. */
export function gexTable({ report, interest }: Pick<GexAnalysis, 'report' | 'interest'>, wanted: Horizon): string {
  const { horizons } = report;
  const horizon = horizons[wanted] ? wanted : 'all';
  const shown = horizons[horizon]!;
  const price = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 2 });
  const used = report.contracts;
  const rejected = Object.entries(used.refused)
    .map(([reason, count]) => `${formatCount(count)} ${reason}`)
    .join(', ');
  const others = HORIZONS.toReversed().flatMap((each): [string, string][] => {
    const levels = horizons[each];
    if (!levels) return [[HORIZON_NAMES[each], 'none: no call or no put with gamma settles by then']];
    if (each === horizon || levels.series === shown.series) return [];
    const flip = levels.flip_resolved ? price(levels.gex_flip) : 'unresolved';
    return [
      [HORIZON_NAMES[each], `${price(levels.net_gex_mil)} million per 1 %, flip ${flip}`],
      ['', `walls ${price(levels.call_wall)} and ${price(levels.put_wall)}`],
    ];
  });
  const chosenBy = horizon === 'all' ? `, by ${report.expiry_chosen_by.replace('_', ' ')}` : '';
  const rows: [string, string][] = [
    [
      'horizon',
      `${HORIZON_NAMES[horizon]}: ${shown.series} series, ${shown.gross_share_pct.toFixed(1)} % of gross gamma`,
    ],
    ['spot', price(report.spot_price)],
    ...wallRows('call wall', shown.call, price),
    [
      'gamma flip',
      `${price(shown.gex_flip)}${shown.flip_resolved ? '' : '  (not resolved: nearest to zero net GEX, or outside the quoted strikes)'}`,
    ],
    // The zone and the band are those of all analysed expiries.
    ...(horizon === 'all' ? zoneRows(report, price) : []),
    ...wallRows('put wall', shown.put, price),
    ['max pain', `${price(shown.max_pain)}  (${shown.expiry}${chosenBy})`],
    ['net GEX', `${price(shown.net_gex_mil)} million per 1 %  (${shown.regime.replace('_', ' ')})`],
    ['sign margin', `${shown.sign_margin_pct.toFixed(1)} % of gross gamma`],
    ['sign odds', `${(100 * shown.regime_probability).toFixed(0)} % that the sign is right`],
    ['gross GEX', `${price(shown.gross_gex_mil)} million per 1 %`],
    ...others,
    ...flowRows(report, price),
    [
      'contracts',
      `${used.used} used of ${used.contracts}; IV ${used.iv.taken} taken, ${used.iv.solved} solved, ${used.iv.interpolated + used.iv.extended} interpolated${interest === undefined ? '' : `; ${interest}`}`,
    ],
    ...(rejected === '' ? [] : ([['rejected', rejected]] as [string, string][])),
    ...report.notes.map((note): [string, string] => ['note', cleanLine(note)]),
  ];
  const head = `${report.ticker}  ${report.as_of}  ${report.source}${report.simulated ? '  SIMULATED' : ''}`;
  return `${head}\n${rows.map(([name, value]) => `  ${name.padEnd(11)} ${value}`).join('\n')}\n`;
}

/** The suffix in the names of the columns that contain numbers of contracts. */
const WEIGHT_COLUMN = { open_interest: 'oi', volume: 'volume' } as const;

/** Formats GEX by strike as CSV, dollars per 1 % move. Strikes and numbers of contracts come from the input and are printed unchanged. */
export function strikesCsv(prepared: PreparedChain): string {
  const by = runToCompletion(exposuresByStrike(prepared));
  const { weight } = prepared.options;
  const counted = WEIGHT_COLUMN[weight];
  const [calls, puts] = weight === 'volume' ? [by.callVolume, by.putVolume] : [by.callOpenInterest, by.putOpenInterest];
  return csvText(
    ['strike', 'call_gex', 'put_gex', 'net_gex', 'sign_margin_pct', `call_${counted}`, `put_${counted}`],
    Array.from(by.strike, (each, i) => [
      String(each),
      String(by.callGex[i]!),
      String(by.putGex[i]!),
      String(by.netGex[i]!),
      String(signMarginPct(by.netGex[i]!, by.grossGex[i]!)),
      String(calls[i]!),
      String(puts[i]!),
    ]),
  );
}

/** Formats the gamma profile as CSV: net GEX at other spots, dollars per 1 % move. */
export function profileCsv(prepared: PreparedChain): string {
  const { level, gex } = profileAround(prepared);
  return csvText(
    ['spot', 'net_gex'],
    Array.from(level, (each, i) => [String(each), String(gex[i]!)]),
  );
}

/** Selects the values that the plot shows: those of the contracts within a horizon. */
export function gexPicture({ prepared: whole, report }: GexAnalysis, wanted: Horizon): GexPicture {
  const horizon = report.horizons[wanted] ? wanted : 'all';
  const shown = report.horizons[horizon]!;
  const prepared = withinHorizon(whole, horizon)!;
  const { strike, netGex } = runToCompletion(exposuresByStrike(prepared));
  const spot: Level = { name: 'spot', price: report.spot_price };
  const flip: Level = { name: 'flip', price: shown.gex_flip };
  const levels = [
    spot,
    { name: 'call wall', price: shown.call_wall },
    { name: 'put wall', price: shown.put_wall },
    ...(shown.flip_resolved ? [flip] : []),
    { name: 'max pain', price: shown.max_pain },
  ];
  return {
    ticker: report.ticker,
    simulated: report.simulated,
    strikes: { spot: spot.price, strike, net: netGex, levels },
    profile: { ...profileAround(prepared), annotations: shown.flip_resolved ? [spot, flip] : [spot] },
  };
}
