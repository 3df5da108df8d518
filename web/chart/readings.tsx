import { amount, price, UNKNOWN } from '../page-format.ts';

/** The value of a figure in one variant of the analysis (a reading), or null if there is no value. Each variant has its own options. */
export interface ReadingDot {
  readonly id: string;
  readonly name: string;
  /** A note on the value, or the reason why the value is null. */
  readonly note: string;
  readonly value: number | null;
  /** Applies the variant to the whole page. Undefined if the page already uses the variant. Null if the server refuses the variant. */
  readonly onChoose: (() => void) | null | undefined;
  /** True if the value rests on little data, so that it is greyed. */
  readonly isFaint?: boolean;
}

interface ReadingDotsProps {
  /** The name of the chart, for tests: `readings` for those of the method. */
  readonly id?: string;
  readonly dots: readonly ReadingDot[];
  readonly band: readonly [low: number, high: number] | undefined;
  readonly isSigned: boolean;
  readonly print: (value: number) => string;
}

/** Margin at each end of the axis, as a share of the axis length. The margin prevents a dot from being cut off. */
const ROOM = 0.06;

/**
 * Renders the values of one figure in several analysis variants, as dots on one axis. Values in the range `band` agree with the page's
 * value. An axis of signed amounts includes zero.
 */
export function ReadingDots({ id: chart = 'readings', dots, band, isSigned, print }: ReadingDotsProps) {
  const known = dots.flatMap(({ value }) => (value === null ? [] : [value]));
  const ends = [...known, ...(band ?? []), ...(isSigned ? [0] : [])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const place = (value: number) => ROOM + (1 - 2 * ROOM) * (high > low ? (value - low) / (high - low) : 0.5);
  const end = isSigned ? amount : price;
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`;
  return (
    <div class="readings" data-chart={chart}>
      <ul>
        {dots.map(({ id, name, note, value, onChoose, isFaint }) => {
          const text = value === null ? UNKNOWN : print(value);
          const row = (
            <>
              <span class="reading-name">
                {name}
                {note && <small>{note}</small>}
              </span>
              <span class="reading-track">
                {band && (
                  <i class="band" style={{ left: percent(place(band[0])), right: percent(1 - place(band[1])) }} />
                )}
                {isSigned && known.length > 0 && <i class="zero" style={{ left: percent(place(0)) }} />}
                {value !== null && <i class="dot" style={{ left: percent(place(value)) }} />}
              </span>
              <span class="reading-value">{text}</span>
            </>
          );
          return (
            <li key={id} data-reading={id} data-value={value} class={isFaint ? 'muted' : undefined}>
              {onChoose ? (
                <button type="button" class="reading" onClick={onChoose} title="Use this reading for the page">
                  {row}
                </button>
              ) : (
                <div
                  class={`reading${onChoose === undefined ? ' strong' : ''}`}
                  aria-current={onChoose === undefined ? 'true' : undefined}
                >
                  {row}
                </div>
              )}
            </li>
          );
        })}
      </ul>
      {known.length > 0 && (
        <p class="reading reading-axis small" aria-hidden="true">
          <span>
            {end(low)} … {end(high)}
          </span>
        </p>
      )}
    </div>
  );
}
