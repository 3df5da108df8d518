import { useMemo } from 'preact/hooks';
import type { GexView } from '../../data/page-answers.ts';
import { newYorkDay, newYorkMoment, signedAmount, strikeText } from '../../page-format.ts';
import { Problem } from '../../panel/chart-panel.tsx';
import { gexCurve, type MomentDifference, momentDifference, valueAt } from '../../state/moment-diff.ts';
import { navigate, page, pageOptions } from '../../state/page.ts';
import { comparedView, gexView, pinnedView } from '../../state/page-market.ts';
import { scopeText } from '../../state/scope-words.ts';

/** Renders one line with the differences between moment A and the page's moment, or the reason why a comparison is not possible. */
export function DiffSummary() {
  const { pinned } = page.value;
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
  const texts =
    difference && now!.asOf !== before!.asOf
      ? [...netBridge(now!.body, before!.body), ...differenceTexts(difference)]
      : [];
  const chosen = scopeText(pageOptions.value, Date.parse(now?.asOf ?? ''));
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

/**
 * Returns a text that splits the change of net gamma in two: what the book of A would have at the spot of now, and the rest. Returns no text
 * if the curve of A does not reach this spot.
 */
export function netBridge(now: GexView, before: GexView): string[] {
  const [from, to] = [before.levels.net_gex_mil * 1e6, now.levels.net_gex_mil * 1e6];
  const { spot } = before.profile;
  const at = now.levels.spot_price;
  if (at < spot[0]! || at > spot.at(-1)!) return [];
  const moved = valueAt(gexCurve(before.profile), at);
  return [
    `net GEX ${signedAmount(from)} → ${signedAmount(to)}: ${signedAmount(moved - from)} as spot moved, ` +
      `${signedAmount(to - moved)} by time, volatility and positions`,
  ];
}

const NAMED_MOST = 4;

/** Returns the name of a series with a day that people read: `Fri 27 Nov, PM-settled`. */
function seriesText(name: string): string {
  const [expiry, settlement, root] = name.split(' ');
  return `${root ? `${root} ` : ''}${newYorkDay(expiry)}, ${settlement}-settled`;
}

/** Returns texts for the differences between two moments. Expired series come first. Only differences that occur have a text. */
export function differenceTexts(difference: MomentDifference): string[] {
  const { expired, newSeries, goneSeries, newStrikes, goneStrikes, largest } = difference;
  const list = (what: string, names: readonly string[]) => {
    const more = names.length > NAMED_MOST ? ` and ${names.length - NAMED_MOST} more` : '';
    return names.length > 0 ? [`${what}: ${names.slice(0, NAMED_MOST).join(', ')}${more}`] : [];
  };
  return [
    ...list('expired in between', expired.map(seriesText)),
    ...list('new series', newSeries.map(seriesText)),
    ...list('gone series', goneSeries.map(seriesText)),
    ...list('new strikes', newStrikes.map(strikeText)),
    ...list('gone strikes', goneStrikes.map(strikeText)),
    ...list(
      'largest changes of net gamma',
      largest.map((each) => `${strikeText(each.strike)} ${signedAmount(each.change)}`),
    ),
  ];
}
