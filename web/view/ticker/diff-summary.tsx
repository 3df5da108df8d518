import { useMemo } from 'preact/hooks';
import { newYorkMoment, signedAmount, strikeText } from '../../page-format.ts';
import { Problem } from '../../panel/chart-panel.tsx';
import { type MomentDifference, momentDifference } from '../../state/moment-diff.ts';
import { navigate, page } from '../../state/page.ts';
import { comparedView, gexView, pinnedView } from '../../state/page-market.ts';
import { scopeText } from '../../state/scope-words.ts';

/** Renders one line with the differences between moment A and the page's moment, or the reason why a comparison is not possible. */
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
  const chosen = scopeText(options, Date.parse(now?.asOf ?? ''));
  return (
    <p class="diff-summary inset" data-diff={difference ? 'shown' : 'waiting'} role="status">
      {!difference
        ? `Waiting for A, ${newYorkMoment(pinned)}`
        : now!.asOf === before!.asOf
          ? 'A and the page show the same snapshot: nothing differs'
          : `A ${newYorkMoment(before!.asOf)}, now ${newYorkMoment(now!.asOf)}${chosen && `, both with ${chosen}`}`}
      {texts.map((text) => (
        <span key={text}> · {text}</span>
      ))}
    </p>
  );
}

const NAMED_MOST = 4;

/** Returns texts for the differences between two moments. Expired series come first. Only differences that occur have a text. */
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
    ...list('new strikes', newStrikes.map(strikeText)),
    ...list('gone strikes', goneStrikes.map(strikeText)),
    ...list(
      'largest changes of net gamma',
      largest.map((each) => `${strikeText(each.strike)} ${signedAmount(each.change)}`),
    ),
  ];
}
