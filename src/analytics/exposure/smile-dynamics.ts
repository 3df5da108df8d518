import { StepCache, StepMeter, type Steps } from '../../core/steps.ts';
import { DEFAULT_OPTIONS } from '../chain/options.ts';
import { prepareChain } from '../chain/prepare.ts';
import type { Pairs, PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { cachedSurface } from '../surface/fit-surface.ts';
import type { PriceLaw } from '../surface/price-law.ts';

/** Returns the chain with the volatilities that its pairs have after a move of spot to a level, dollars. */
type SmileMover = (spot: number) => PreparedChain;

/** Returns whether volatilities stay at their strikes if spot moves. */
export function isStickyStrike({ options: { ssr } }: PreparedChain): boolean {
  return ssr === DEFAULT_OPTIONS.ssr;
}

/**
 * Returns a function that moves the smiles of a chain with spot, by the ratio R of the chain's smile dynamics. With x = ln(spot / present spot) and
 * k = ln(K/F) at the present forward F, a strike K then has the volatility that the smile has now at k + (R - 1) x. So the at-the-money volatility
 * becomes that of the smile at R x. The smile is that of the surface between the outermost strikes of the series, and constant beyond. The ratio of
 * a strike's own volatility to the smile stays.
 */
export function* smileMover(prepared: PreparedChain): Steps<SmileMover> {
  if (isStickyStrike(prepared)) return () => prepared;
  const { pairs, options, chain } = prepared;
  const { smiles, seriesOf, moneyness } = yield* surfaceSmiles.of(pairs, '', {
    message: MESSAGE,
    steps: () => smilesOf(prepared),
  });
  const present = moneyness.map((each, pair) => smileAt(smiles[seriesOf[pair]!], each));
  return (spot) => {
    const shift = (options.ssr - 1) * Math.log(spot / chain.spot);
    const iv = pairs.iv.map((each, pair) => {
      const smile = smiles[seriesOf[pair]!];
      return smile ? (each * smileAt(smile, moneyness[pair]! + shift)) / present[pair]! : each;
    });
    return { ...prepared, pairs: { ...pairs, iv } };
  };
}

/** The deviations v sqrt(T) of a smile at equal distances of ln(K/F). */
type Smile = Readonly<{ first: number; step: number; deviation: Float64Array }>;

const MESSAGE = 'Reading the smiles of the surface';
const INTERVALS = 80;
/** The largest number of volatilities that one step reads from the surface, in about 8 ms. */
const STEP_NODES = INTERVALS;
const surfaceSmiles = new StepCache<Pairs, ReturnType<typeof smilesOf> extends Steps<infer Result> ? Result : never>(
  () => 1,
);

/** Returns the smile of each series, `undefined` without one, and each pair's series and ln(K/F). They do not depend on weights and signs. */
function* smilesOf({ chain, options, pairs, series, seriesIndex }: PreparedChain) {
  const base = yield* prepareChain(chain, { ...options, weight: 'open_interest', ssr: DEFAULT_OPTIONS.ssr });
  const surface = yield* cachedSurface(base);
  const meter = new StepMeter(STEP_NODES);
  const smiles: (Smile | undefined)[] = [];
  for (const each of series) {
    if (meter.beginsNextStep(INTERVALS)) yield { message: MESSAGE };
    smiles.push(surface.hasLaws ? readSmile(surface.lawAt(each.series.settlesAt).law, each) : undefined);
  }
  const seriesOf = Uint16Array.from({ length: pairs.count }, (_, pair) => seriesIndex[pairs.contracts[pair]!]!);
  const moneyness = pairs.strike.map((strike, pair) => Math.log(strike / series[seriesOf[pair]!]!.forward));
  return { smiles, seriesOf, moneyness };
}

function readSmile(law: PriceLaw, { smile: { logMoneyness } }: PreparedSeries): Smile | undefined {
  if (logMoneyness.length < 2) return undefined;
  const [first, last] = [logMoneyness[0]!, logMoneyness.at(-1)!];
  const step = (last - first) / INTERVALS;
  const deviation = Float64Array.from({ length: INTERVALS + 1 }, (_, i) =>
    Math.sqrt(law.totalVariance(first + i * step)),
  );
  // Far from the forward, prices are too small to imply a volatility. The next one that they imply then counts.
  const center = Math.min(Math.max(Math.round(-first / step), 0), INTERVALS);
  for (let i = center + 1; i <= INTERVALS; i++) if (!(deviation[i]! > 0)) deviation[i] = deviation[i - 1]!;
  for (let i = center - 1; i >= 0; i--) if (!(deviation[i]! > 0)) deviation[i] = deviation[i + 1]!;
  return deviation[center]! > 0 ? { first, step, deviation } : undefined;
}

function smileAt(smile: Smile | undefined, moneyness: number): number {
  if (!smile) return 1;
  const place = Math.min(Math.max((moneyness - smile.first) / smile.step, 0), INTERVALS);
  const left = Math.min(Math.floor(place), INTERVALS - 1);
  const [from, to] = [smile.deviation[left]!, smile.deviation[left + 1]!];
  return from + (place - left) * (to - from);
}
