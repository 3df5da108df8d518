import { useRef, useState } from 'preact/hooks';
import { newYorkMoment, price, spokenMoment } from '../format.ts';
import { asOf, newerCount } from '../state/market.ts';
import { navigate, page } from '../state/page.ts';
import { momentIndex, moments, moveToStop, stops } from '../state/time-stops.ts';

/** While the strip is dragged, its moment is shown at once, and the figures follow when the hand rests this long, ms. */
const REST_MS = 80;

/** The moments with a snapshot as a slider. It stops only where a snapshot stood. */
export function TimeStrip() {
  const all = moments.value;
  const index = momentIndex.value;
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { at, pinned, isDiff } = page.value;
  const shown = dragged ?? index;
  const moment = all[shown] ?? at ?? asOf.value;
  const spots = stops.asked.value.answer?.body.spot ?? [];
  const onInput = (event: { currentTarget: HTMLInputElement }) => {
    const to = Number(event.currentTarget.value);
    setDragged(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setDragged(null);
      moveToStop(to);
    }, REST_MS);
  };
  return (
    <footer class="strip" aria-label="Time">
      <button
        type="button"
        onClick={() => moveToStop(index - 1)}
        disabled={index <= 0}
        aria-label="Snapshot before ([)"
      >
        ◂
      </button>
      <div class="strip-track">
        <Spark values={spots} />
        <input
          type="range"
          min={0}
          max={Math.max(0, all.length - 1)}
          value={Math.max(0, shown)}
          disabled={all.length < 2}
          aria-label="Moment"
          aria-valuetext={moment ? `${spokenMoment(moment)}, ${shown + 1} of ${all.length}` : 'no snapshot'}
          onInput={onInput}
        />
      </div>
      <button
        type="button"
        onClick={() => moveToStop(index + 1)}
        disabled={at === null}
        aria-label="Snapshot after (])"
      >
        ▸
      </button>
      <span class="strip-moment" data-moment={moment}>
        {newYorkMoment(moment)}
        {dragged !== null && spots[dragged] !== undefined ? ` · spot ${price(spots[dragged])}` : ''}
      </span>
      <button
        type="button"
        class={at === null ? 'live on' : 'live'}
        aria-pressed={at === null}
        onClick={() => navigate({ at: null })}
      >
        Live{at !== null && newerCount.value > 0 ? ` +${newerCount.value}` : ''} <kbd>l</kbd>
      </button>
      <button
        type="button"
        class="wide-only"
        aria-pressed={pinned !== null}
        title={pinned ? `A is ${newYorkMoment(pinned)}` : 'Pin this moment as A'}
        onClick={() => navigate(pinned ? { pinned: null, isDiff: false } : { pinned: at ?? asOf.value ?? null })}
      >
        {pinned ? `A ${newYorkMoment(pinned)}` : 'Pin A'} <kbd>p</kbd>
      </button>
      <button
        type="button"
        class="wide-only"
        disabled={pinned === null}
        aria-pressed={isDiff}
        onClick={() => navigate({ isDiff: !isDiff })}
      >
        Diff <kbd>d</kbd>
      </button>
    </footer>
  );
}

/** The spot at each stop, behind the slider. */
function Spark({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const points = values.map(
    (value, i) =>
      `${((100 * i) / (values.length - 1)).toFixed(2)},${(22 - (20 * (value - low)) / (high - low || 1)).toFixed(2)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
}
