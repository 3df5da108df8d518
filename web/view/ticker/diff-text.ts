import { signedAmount, strikeText } from '../../page-format.ts';
import type { MomentDifference } from '../../state/moment-diff.ts';

const NAMED_MOST = 4;

/** Returns texts for the differences between two moments, expired series first. A kind of difference that does not occur has no text. */
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
