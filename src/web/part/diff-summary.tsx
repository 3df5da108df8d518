import { useMemo } from 'preact/hooks';
import { change, newYorkMoment, strike } from '../format.ts';
import { comparedView, gexView, pinnedView } from '../state/market.ts';
import { type MomentDifference, momentDifference } from '../state/moment-diff.ts';
import { navigate, page } from '../state/page.ts';
import { Problem } from './chart-panel.tsx';

/** What differs between A and the moment of the page, in one line, or why nothing is compared. */
export function DiffSummary() {
  const { pinned, options } = page.value;
  const now = gexView.asked.value.answer;
  const before = comparedView.value;
  const difference = useMemo(
    () =>
      now?.asOf && before?.asOf
        ? momentDifference(now.body, before.body, Date.parse(now.asOf), Date.parse(before.asOf))
        : undefined,
    [now, before],
  );
  const { problem } = pinnedView.asked.value;
  if (problem && !before) {
    return (
      <div class="diff-summary" data-diff="problem">
        <Problem problem={problem} />
        <button type="button" onClick={() => navigate({ pinned: null, isDiff: false })}>
          Forget A
        </button>
      </div>
    );
  }
  const texts = difference && now!.asOf !== before!.asOf ? differenceTexts(difference) : [];
  const chosen = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return (
    <p class="diff-summary" data-diff={difference ? 'shown' : 'waiting'} role="status">
      {!difference
        ? `Waiting for A, ${newYorkMoment(pinned)}`
        : now!.asOf === before!.asOf
          ? 'A and the page show the same snapshot: nothing differs'
          : `A ${newYorkMoment(before!.asOf)}, now ${newYorkMoment(now!.asOf)}${chosen.length > 0 ? `, both with ${chosen.join(', ')}` : ''}`}
      {texts.map((text) => (
        <span key={text}> · {text}</span>
      ))}
    </p>
  );
}

const NAMED_MOST = 4;

/** Says what differs, expired series first. Parts without anything to say are left out. */
export function differenceTexts(difference: MomentDifference): string[] {
  const { expired, newSeries, goneSeries, newStrikes, goneStrikes, largest } = difference;
  const list = (what: string, names: readonly string[]) => {
    const more = names.length > NAMED_MOST ? ` and ${names.length - NAMED_MOST} more` : '';
    return names.length > 0 ? [`${what}: ${names.slice(0, NAMED_MOST).join(', ')}${more}`] : [];
  };
  return [
    ...list('expired in between', expired),
    ...list('new series', newSeries),
    ...list('gone series', goneSeries),
    ...list('new strikes', newStrikes.map(strike)),
    ...list('gone strikes', goneStrikes.map(strike)),
    ...list(
      'largest changes of net gamma',
      largest.map((each) => `${strike(each.strike)} ${change(each.change)}`),
    ),
  ];
}
