import { bisectCenter } from 'd3-array';
import { useMemo, useRef, useState } from 'preact/hooks';
import { newYorkMoment, price, spokenMoment, UNKNOWN } from '../page-format.ts';
import { Choice } from '../panel/choices.tsx';
import { navigate, page } from '../state/page.ts';
import { asOf, feeds, gexView, newerCount } from '../state/page-market.ts';
import { staleText } from '../state/ribbon.ts';
import { stopAt } from '../state/stop-steps.ts';
import {
  isPlaying,
  isThisDayOnly,
  momentIndex,
  moveInTime,
  moveToMoment,
  PLAY_MS,
  playMs,
  SINCE_TEXTS,
  type SinceName,
  shownMs,
  since,
  sinceMoment,
  stopList,
  stripAxis,
  stripStops,
  togglePlay,
  toggleSince,
} from '../state/time-stops.ts';
import { dialog } from '../state/ui.ts';
import { tradingTicks } from '../time/trading-axis.ts';

/** Debounce delay of the request for figures during a drag of the time strip, in ms. The moment changes immediately. */
const REST_MS = 80;

/** Renders the time strip: a slider with one position per stored snapshot, and buttons for moving in time and comparing. */
export function TimeStrip() {
  const { at } = page.value;
  const index = momentIndex.value;
  return (
    <footer class="strip row" aria-label="Time">
      <button
        type="button"
        onClick={() => moveInTime(-1, 'snapshot')}
        disabled={stopList.value.at.length === 0 || index === 0}
        aria-label="Snapshot before ([)"
      >
        ◂
      </button>
      <StripSlider />
      <span class="wide-only play">
        <button type="button" onClick={togglePlay} disabled={stopList.value.at.length < 2} data-action="play">
          {isPlaying.value ? '◼ Stop' : '▶ Play'}
        </button>
        <Choice
          label="A snapshot each"
          value={String(playMs.value)}
          values={PLAY_MS.map(String)}
          text={(ms) => `${Number(ms) / 1000} s`}
          onChoose={(ms) => (playMs.value = Number(ms))}
        />
      </span>
      <button
        type="button"
        class={at === null ? 'live on' : 'live'}
        aria-pressed={at === null}
        onClick={() => navigate({ at: null })}
      >
        Live{at !== null && newerCount.value > 0 ? ` +${newerCount.value}` : ''} <kbd>l</kbd>
      </button>
      <SinceControls />
    </footer>
  );
}

/** Renders the buttons that compare the page with an earlier moment, and that pin the present moment as A. */
function SinceControls() {
  const { at, pinned, isDiff } = page.value;
  const moment = sinceMoment(since.value);
  const names = (Object.keys(SINCE_TEXTS) as SinceName[]).filter((name) => name !== 'pinned' || pinned !== null);
  return (
    <>
      <span class="since">
        <button
          type="button"
          data-action="since"
          disabled={moment === undefined && !isDiff}
          aria-pressed={isDiff}
          title={
            moment === undefined
              ? `No snapshot is stored: ${SINCE_TEXTS[since.value]}`
              : `Show the change since: ${SINCE_TEXTS[since.value]}, ${newYorkMoment(moment)} (d)`
          }
          onClick={() => toggleSince()}
        >
          Since
        </button>
        <Choice
          label="The moment to compare with"
          value={since.value}
          values={names}
          text={(name) => (name === 'pinned' ? `A, ${newYorkMoment(pinned)}` : SINCE_TEXTS[name])}
          isDisabled={(name) => sinceMoment(name) === undefined}
          onChoose={(name) => {
            since.value = name;
            if (page.value.isDiff) toggleSince();
          }}
        />
      </span>
      <button
        type="button"
        class="wide-only"
        aria-pressed={pinned !== null}
        title={pinned ? 'Forget A' : 'Pin this moment as A'}
        onClick={() => {
          since.value = pinned ? 'close' : 'pinned';
          navigate(pinned ? { pinned: null, isDiff: false } : { pinned: at ?? asOf.value ?? null });
        }}
      >
        {pinned ? 'Forget A' : 'Pin A'} <kbd>p</kbd>
      </button>
    </>
  );
}

/** Number of steps of the slider. A step must be smaller than the distance between two snapshots. The page stores moments, not steps. */
const FINE = 100_000;

/** Renders the slider, the button of the next snapshot, the selected moment and *This day*. */
function StripSlider() {
  const all = stripStops.value;
  const axis = stripAxis.value;
  const shown = shownMs.value;
  const index = Number.isNaN(shown) ? -1 : stopAt(all, shown);
  const [dragged, setDragged] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isPressed = useRef(false);
  const places = useMemo(() => all.ms.map((ms) => (FINE * axis.at(ms)) / axis.length), [all, axis]);
  const placeOf = (ms: number) => (axis.length > 0 ? (FINE * axis.at(ms)) / axis.length : 0);
  const stop = dragged ?? index;
  // The moment in the address may be between two snapshots. The strip shows this moment, and marks the nearest snapshot.
  const isBetween = dragged === null && all.ms.length > 0 && !Number.isNaN(shown) && all.ms[index] !== shown;
  const nearest = bisectCenter(all.ms, shown);
  const isShown = gexView.asked.value.answer?.call.args.at === page.value.at;
  const beside = !isBetween
    ? ''
    : isShown
      ? `figures of ${newYorkMoment(asOf.value)}`
      : `nearest ${newYorkMoment(all.at[nearest])}`;
  const moment = isBetween ? shown : (all.at[stop] ?? (Number.isNaN(shown) ? undefined : shown));
  const value = dragged !== null ? places[dragged]! : Number.isNaN(shown) ? 0 : placeOf(shown);
  const { pinned } = page.value;

  const onInput = (event: { currentTarget: HTMLInputElement }) => {
    const wanted = Number(event.currentTarget.value);
    let to = bisectCenter(places, wanted);
    // A screen reader moves the slider by one step. If one step does not reach another snapshot, the slider moves to the next snapshot.
    if (!isPressed.current && to === stop) to += Math.sign(wanted - value);
    to = Math.max(0, Math.min(all.at.length - 1, to));
    setDragged(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      setDragged(null);
      const moment = all.at[to];
      if (moment !== undefined) moveToMoment(moment);
    }, REST_MS);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const act = KEYS[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    act();
    event.preventDefault();
  };
  const place = isBetween ? `no snapshot, ${beside}` : `${stop + 1} of ${all.at.length}`;
  const spoken = moment ? `${spokenMoment(moment)}, ${place}` : 'no snapshot';
  return (
    <>
      <div class="strip-track" data-stops={all.at.length}>
        <div class="strip-marks" aria-hidden="true">
          <StripMarks />
          {isBetween && <i class="strip-stop" style={{ left: percentOf(places[nearest]!) }} />}
          {pinned &&
            Object.entries({ A: placeOf(Date.parse(pinned)), B: value }).map(([letter, at]) => (
              <i key={letter} class="flag" data-flag={letter} style={{ left: percentOf(at) }}>
                {letter}
              </i>
            ))}
        </div>
        <input
          type="range"
          min={0}
          max={FINE}
          value={value}
          disabled={all.at.length < 2}
          aria-label="Moment"
          aria-valuetext={spoken}
          onInput={onInput}
          onKeyDown={onKeyDown}
          onPointerDown={() => (isPressed.current = true)}
          onPointerUp={() => (isPressed.current = false)}
        />
      </div>
      <button
        type="button"
        onClick={() => moveInTime(1, 'snapshot')}
        disabled={page.value.at === null}
        aria-label="Snapshot after (])"
      >
        ▸
      </button>
      <button
        type="button"
        class="strip-moment"
        data-moment={typeof moment === 'number' ? new Date(moment).toISOString() : moment}
        title="Calendar: go to a day"
        onClick={() => (dialog.value = 'calendar')}
      >
        <b>{newYorkMoment(moment)}</b>
        <span class="muted">
          {isBetween
            ? beside
            : [staleText.value && 'STALE', `spot ${price(all.spot[stop])}`].filter(Boolean).join(' · ')}
        </span>
      </button>
      <button
        type="button"
        class="wide-only"
        aria-pressed={isThisDayOnly.value}
        disabled={all.at.length === 0}
        title="Show only the snapshots of this day on the strip"
        onClick={() => (isThisDayOnly.value = !isThisDayOnly.value)}
      >
        This day
      </button>
    </>
  );
}

const KEYS: Readonly<Record<string, () => void>> = {
  ArrowLeft: () => moveInTime(-1, 'snapshot'),
  ArrowDown: () => moveInTime(-1, 'snapshot'),
  ArrowRight: () => moveInTime(1, 'snapshot'),
  ArrowUp: () => moveInTime(1, 'snapshot'),
  PageDown: () => moveInTime(-1, 'day'),
  PageUp: () => moveInTime(1, 'day'),
  Home: () => stripStops.value.at[0] && moveToMoment(stripStops.value.at[0]),
  End: () => navigate({ at: null }),
};

const percentOf = (place: number) => `${(100 * place) / FINE}%`;

/** Maximum number of dates on the time strip. */
const LABELS_MOST = 7;

/** Renders the background of the slider: a tick per snapshot, the spot curve, day boundaries, and hatched areas for missing data. */
function StripMarks() {
  const all = stripStops.value;
  const axis = stripAxis.value;
  const gaps = feeds.asked.value.answer?.body.feeds.flatMap((feed) => feed.gaps) ?? [];
  const paths = useMemo(() => {
    const [low, high] = [Math.min(...all.spot), Math.max(...all.spot)];
    const y = (spot: number) => (70 - (62 * (spot - low)) / (high - low || 1)).toFixed(1);
    const x = all.ms.map((ms) => axis.at(ms).toFixed(3));
    const isNew = (i: number) => i === 0 || (all.day[i] !== all.day[i - 1] && hasHole(axis.days, all.day[i]!));
    return {
      ticks: x.map((each) => `M${each} 100V78`).join(''),
      spot: all.spot.map((each, i) => `${isNew(i) ? 'M' : 'L'}${x[i]} ${y(each)}`).join(''),
      // A day with one snapshot has no boundary line, because the tick of the snapshot marks the day.
      days: axis.days.map(({ start, count }) => (count > 1 ? `M${start} 0V100` : '')).join(''),
    };
  }, [all, axis]);
  if (axis.length === 0) return null;
  const box = (from: number, to: number) => ({
    left: `${(100 * from) / axis.length}%`,
    width: `${(100 * (to - from)) / axis.length}%`,
  });
  return (
    <>
      {axis.days.map(
        ({ date, start, width, count }) =>
          count === 0 && <i key={date} class="hole" title={`${date}: ${UNKNOWN}`} style={box(start, start + width)} />,
      )}
      {gaps.map(({ from, to }) => {
        const [begin, end] = [
          axis.at(Date.parse(from)),
          axis.at(to === null ? Number.MAX_SAFE_INTEGER : Date.parse(to)),
        ];
        return end > begin && <i key={from} class="feed-gap" style={box(begin, end)} />;
      })}
      {tradingTicks(axis, 0, axis.length, LABELS_MOST).map(({ at, label }) => (
        <small key={at} class="strip-date" style={{ left: `${(100 * at) / axis.length}%` }}>
          {label}
        </small>
      ))}
      <svg viewBox={`0 0 ${axis.length} 100`} preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
        <path class="days" d={paths.days} />
        <path class="spark" d={paths.spot} />
        <path class="ticks" d={paths.ticks} />
      </svg>
    </>
  );
}

/** Returns true if the day before a date on the axis has no data. */
function hasHole(days: readonly { readonly date: string; readonly count: number }[], date: string): boolean {
  const at = days.findIndex((each) => each.date === date);
  return at > 0 && days[at - 1]!.count === 0;
}
