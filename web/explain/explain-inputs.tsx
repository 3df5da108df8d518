import type { ExplainedFigure } from '../data/figure-texts.ts';
import type { GexView } from '../data/page-answers.ts';
import type { WebAnswer } from '../data/request.ts';
import { cleanText, countsText, countText, marketNotes, newYorkDay, percent } from '../page-format.ts';
import { Facts } from '../panel/facts.tsx';

/** Renders the inputs of a figure: contracts, volatilities, forwards, stale quotes and the source. */
export function ExplainInputs({ answer, figure }: { answer: WebAnswer<GexView>; figure: ExplainedFigure }) {
  const { levels } = answer.body;
  const { contracts, used, left_out, iv, stale_quotes, refused } = levels.contracts;
  const byMethod: Record<string, number> = {};
  for (const { forward_method: method } of levels.series) byMethod[method] = (byMethod[method] ?? 0) + 1;
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['contracts', `${countText(used)} of ${countText(contracts)} used`],
    ['left out', listed(left_out)],
    ...(Object.keys(refused).length > 0 ? [['rows refused', listed(refused)] as const] : []),
    ['volatilities', listed(iv)],
    ['forwards', `${countText(levels.series.length)} series: ${listed(byMethod)}`],
    ['stale quotes', countText(stale_quotes)],
    ['dealers', cleanText(levels.sign_convention)],
    ...(figure === 'max_pain' ? [['dominant series', dominant(answer.body)] as const] : []),
    ...(figure === 'hedging' ? [['daily volume', averageVolume(answer.body)] as const] : []),
    ['source', cleanText(answer.source)],
    ['simulated', answer.isSimulated ? 'yes: no real quotes' : 'no'],
  ];
  const notes = marketNotes(answer.notes);
  return (
    <>
      <Facts of={facts} />
      {notes && <p class="muted">{notes}</p>}
    </>
  );
}

const listed = (counts: Readonly<Record<string, number>>) => countsText(counts) || 'none';

function dominant({ levels }: GexView): string {
  const why = levels.expiry_chosen_by === 'large_prints' ? 'most premium in large prints' : 'most gamma';
  return `${levels.expiry_root} ${newYorkDay(levels.expiry, true)}, by ${why}`;
}

function averageVolume({ levels }: GexView): string {
  const { average_daily_volume: volume, share_of_volume_pct: share } = levels.hedging;
  return volume === null
    ? 'unknown: no stored close has a volume'
    : `${countText(volume)} shares on average over 20 trading days, of which this is ${percent(share, 1, false)}`;
}
