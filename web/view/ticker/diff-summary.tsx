import { useMemo } from 'preact/hooks';
import { newYorkMoment } from '../../page-format.ts';
import { Problem } from '../../panel/chart-panel.tsx';
import { momentDifference } from '../../state/moment-diff.ts';
import { navigate, page } from '../../state/page.ts';
import { comparedView, gexView, pinnedView } from '../../state/page-market.ts';
import { differenceTexts } from './diff-text.ts';

/**
 * Renders one line with the differences between moment A and the page's moment. If the two moments cannot be compared, the line states the
 * reason.
 */
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
      <div class="diff-summary inset" data-diff="problem">
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
    <p class="diff-summary inset" data-diff={difference ? 'shown' : 'waiting'} role="status">
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
