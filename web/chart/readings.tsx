import { amount, price, UNKNOWN } from '../page-format.ts';

/** A figure under one reading of the chain. Null: it has no value under this reading. */
export interface ReadingDot {
  readonly id: string;
  readonly name: string;
  /** What else a reader needs to know about the reading, or why it has no value. */
  readonly note: string;
  readonly value: number | null;
  /** Makes the reading the page's. Undefined: it is that already. Null: the server refuses it. */
  readonly onChoose: (() => void) | null | undefined;
}

/** Room at either end of the axis, a share of its length, so that no dot is cut. */
const ROOM = 0.06;

/**
 * The same figure under several readings, as dots on one axis with name and value beside each. `band` is the range within which the readings
 * agree. An axis of signed amounts has its zero.
 */
export function ReadingDots({
  dots,
  band,
  isSigned,
  print,
}: {
  dots: readonly ReadingDot[];
  band: readonly [low: number, high: number] | undefined;
  isSigned: boolean;
  print: (value: number) => string;
}) {
  const known = dots.flatMap(({ value }) => (value === null ? [] : [value]));
  const ends = [...known, ...(band ?? []), ...(isSigned ? [0] : [])];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const place = (value: number) => ROOM + (1 - 2 * ROOM) * (high > low ? (value - low) / (high - low) : 0.5);
  const end = isSigned ? amount : price;
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`;
  return (
    <div class="readings" data-chart="readings">
      <ul>
        {dots.map(({ id, name, note, value, onChoose }) => {
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
            <li key={id} data-reading={id} data-value={value}>
              {onChoose ? (
                <button type="button" class="reading" onClick={onChoose} title="Use this reading for the page">
                  {row}
                </button>
              ) : (
                <div class="reading" aria-current={onChoose === undefined ? 'true' : undefined}>
                  {row}
                </div>
              )}
            </li>
          );
        })}
      </ul>
      {known.length > 0 && (
        <p class="reading reading-axis" aria-hidden="true">
          <span>
            {end(low)} … {end(high)}
          </span>
        </p>
      )}
    </div>
  );
}
