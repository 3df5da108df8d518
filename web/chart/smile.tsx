import { line } from 'd3-shape';
import { useMemo } from 'preact/hooks';
import type { Surface } from '../data/page-answers.ts';
import { percent, plain, price, strikeText, volatility, volatilityPoints } from '../page-format.ts';
import { valueAt } from '../state/moment-diff.ts';
import { useSize } from './canvas.tsx';
import { expiryLabels, maturityAxis, spacedLabels, strikeAxis } from './chart-axis.ts';
import { linearScale } from './linear-scale.ts';
import { CursorFrame, SeriesPlot, type SeriesPlotProps } from './series-chart.tsx';

/** The fitted smile of a settlement: a row for each strike of the answer. */
export interface FittedSmile {
  readonly forward: number;
  readonly strike: readonly number[];
  /** Volatility, as a decimal per calendar year. */
  readonly iv: readonly number[];
  /** Forward delta of the option out of the money. */
  readonly delta: readonly number[];
  readonly probability_below: readonly number[];
}

/** Returns the smile of a settlement. The answer must contain the smiles. */
export function fittedSmile({ expiries, smiles }: Surface, settlement: number): FittedSmile {
  const of = (column: readonly (readonly number[])[]) => column[settlement]!;
  const { strike, iv, delta, probability_below } = smiles!;
  return {
    forward: expiries.forward[settlement]!,
    strike: of(strike),
    iv: of(iv),
    delta: of(delta),
    probability_below: of(probability_below),
  };
}

/** The value d1 of Black's formula for the 10-delta put, the 25-delta put, the forward, the 25-delta call and the 10-delta call. */
const DELTAS = [1.2815515655446004, 0.6744897501960817, 0, -0.6744897501960817, -1.2815515655446004];

interface SmileChartProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor'> {
  readonly surface: Surface;
  readonly settlement: number;
  readonly smile: FittedSmile;
  /** Further smiles: that of the settlement at moment A of a comparison, and those of other settlements. */
  readonly others: readonly NamedSmile[];
}

/** A further smile of the chart. */
export interface NamedSmile extends FittedSmile {
  readonly name: string;
  readonly isBefore: boolean;
}

/** Renders the fitted smile of a settlement with the volatilities at 10 and 25 deltas. Whiskers show each quote's bid and ask. */
export function SmileChart({ surface, settlement, smile, others, cursor, onCursor }: SmileChartProps) {
  const { put_10d_iv, put_25d_iv, atm_iv, call_25d_iv, call_10d_iv } = surface.expiries;
  const figures = [put_10d_iv, put_25d_iv, atm_iv, call_25d_iv, call_10d_iv].map(
    (column) => column[settlement] ?? null,
  );
  const places = figures.map((iv, i) => {
    const deviation = (iv ?? 0) * Math.sqrt(surface.expiries.tte[settlement]!);
    // The at-the-money strike is the forward.
    return smile.forward * (i === 2 ? 1 : Math.exp(deviation ** 2 / 2 - DELTAS[i]! * deviation));
  });
  // Quotes of another settlement are not drawn while the quotes of this settlement are loading.
  const quotes = surface.quotes?.settles_at === surface.expiries.settles_at[settlement] ? surface.quotes : null;
  const [low, high] = [smile.strike[0]!, smile.strike.at(-1)!];
  const near = (column: readonly (number | null)[] = []) =>
    column.filter((_, i) => quotes!.iv_bid[i] && quotes!.strike[i]! > low && quotes!.strike[i]! < high);
  return (
    <CursorFrame
      id="smile"
      label={`${describeSmile(surface, settlement)} Arrow keys move from strike to strike.`}
      count={smile.strike.length}
      cursor={cursor}
      onCursor={onCursor}
      readout={(i) => smileReadout(smile, i)}
    >
      <SeriesPlot
        x={smile.strike}
        axis={strikeAxis(low, high)}
        marker={{ at: smile.forward, name: `forward ${price(smile.forward)}` }}
        cursor={cursor}
        onCursor={onCursor}
        format={(value) => volatility(value)}
        series={[
          {
            name: 'quotes, bid to ask',
            mark: 'ranges',
            class: 'faint',
            x: near(quotes?.strike) as number[],
            y: near(quotes?.iv_ask),
            from: near(quotes?.iv_bid),
          },
          ...others.map(({ name, isBefore, strike, iv }) => {
            const within = strike.flatMap((at, i) => (at >= low && at <= high ? [i] : []));
            return {
              name,
              mark: 'line' as const,
              class: isBefore
                ? 'before'
                : `series-${2 + others.filter((each) => !each.isBefore).findIndex((each) => each.name === name)}`,
              x: within.map((i) => strike[i]!),
              y: within.map((i) => iv[i]!),
            };
          }),
          { name: 'fitted smile', mark: 'line', y: smile.iv },
          { name: 'at 10 and 25 deltas', mark: 'dots', x: places, y: figures },
        ]}
      />
    </CursorFrame>
  );
}

/** Returns one sentence with the main figures of a smile, for screen readers. */
export function describeSmile({ expiries }: Surface, i: number): string {
  const figure = (column: readonly (number | null)[]) => volatility(column[i]);
  return (
    `Fitted smile of ${expiries.series[i]}, ${expiries.expiry[i]}: ${figure(expiries.atm_iv)} at the money, ` +
    `${figure(expiries.put_25d_iv)} at the 25-delta put, ${figure(expiries.call_25d_iv)} at the 25-delta call.`
  );
}

/** Returns the volatility at the same strike at the earlier moment, and the change. Empty if that smile does not reach the strike. */
function earlierText(at: number, now: number, before: FittedSmile | undefined): string {
  if (!before || at < before.strike[0]! || at > before.strike.at(-1)!) return '';
  const was = valueAt({ spot: before.strike, values: before.iv }, at);
  return ` (at A ${volatility(was, 2)}, change ${volatilityPoints(now - was)})`;
}

/** Returns a text with the figures of a smile at one strike, and what the volatility was there at the moment of `before`. */
export function smileReadout({ forward, strike, iv, ...of }: FittedSmile, i: number, before?: FittedSmile): string {
  const at = strike[i]!;
  return [
    `${strikeText(Math.round(at * 100) / 100)} (${percent(100 * (at / forward - 1), 1)} from the forward)`,
    `volatility ${volatility(iv[i], 2)}${earlierText(at, iv[i]!, before)}`,
    `forward delta of the ${of.delta[i]! < 0 ? 'put' : 'call'} ${plain(of.delta[i], 3)}`,
    `probability of ending below ${percent(100 * of.probability_below[i]!, 1, false)}`,
  ].join(' · ');
}

/** The small multiples are drawn only if the view is wider than `width` pixels. `most` is the maximum number of small multiples. */
const MULTIPLES = { width: 1500, most: 16, size: [132, 64] } as const;

export interface SmileMultiplesProps {
  readonly surface: Surface;
  readonly moment: string | undefined;
  readonly settlement: number;
  onSelect(index: number): void;
}

/**
 * Renders one small chart for the smile of each settlement, earliest settlement first. All charts have the same axes: strikes in standard
 * deviations, and volatilities minus the at-the-money volatility. A click selects a settlement.
 */
export function SmileMultiples({ surface, moment, settlement, onSelect }: SmileMultiplesProps) {
  const { ref, size } = useSize<HTMLDivElement>();
  const isDrawn = size.width > MULTIPLES.width;
  const { expiry, tte, atm_iv } = surface.expiries;
  const smiles = useMemo(() => {
    if (!isDrawn) return [];
    const at = tte.map(maturityAxis(tte, expiry)(0, MULTIPLES.most).x);
    return spacedLabels(
      at,
      at.map(() => 1),
      0,
    ).map((index) => {
      const iv = surface.smiles!.iv[index]!;
      return { index, iv: iv.map((each) => each - iv[iv.length >> 1]!) };
    });
  }, [surface, isDrawn]);
  const names = expiryLabels(expiry, moment);
  const all = smiles.flatMap(({ iv }) => iv);
  const [width, height] = MULTIPLES.size;
  const y = linearScale([Math.min(...all), Math.max(...all)], [height - 3, 3]);
  const path = line<number>((_, i, { length }) => 2 + ((width - 4) * i) / (length - 1), y);
  return (
    <div ref={ref} class="multiples" data-multiples>
      {smiles.map(({ index, iv }) => (
        <button type="button" key={index} aria-pressed={index === settlement} onClick={() => onSelect(index)}>
          <svg width={width} height={height} aria-hidden="true">
            <line class="grid-line" x1={width / 2} x2={width / 2} y1={0} y2={height} />
            <path class="curve" d={path(iv) ?? ''} />
          </svg>
          {names[index]} · {volatility(atm_iv[index])}
        </button>
      ))}
    </div>
  );
}
