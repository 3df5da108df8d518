import { OUTCOMES } from '../chart/record-text.ts';
import { EXPLANATIONS } from '../data/figure-texts.ts';
import { type RecordAnswer, useAnswer } from '../data/page-answers.ts';
import { FigureTable } from '../grid/figure-table.tsx';
import { percent, plain } from '../page-format.ts';
import { tickerCall } from '../state/page.ts';
import type { ExplainSectionProps } from './explain-part.tsx';

/** Renders the number of days on which the level held, next to the number for a control level at the same distance from spot. */
export function ExplainRecord({ figure, snapshot, isVisible, notes }: ExplainSectionProps) {
  const { record } = EXPLANATIONS[figure];
  const { answer, problem } = useAnswer<RecordAnswer>(
    record && isVisible ? tickerCall('get_level_record', snapshot.moment, {}, snapshot.ticker) : undefined,
  );
  if (!record) return <p>{notes?.no_record}</p>;
  if (problem) return <p>{problem.status === 404 ? 'This server counts no record of levels.' : problem.message}</p>;
  if (!answer) return <p class="muted">Asking for the record…</p>;
  const score = answer.body[record];
  const { spots_per_day: spots } = answer.body;
  if (score.too_few_days)
    return (
      <p>
        {score.n} {score.n === 1 ? 'day is' : 'days are'} {notes?.too_few_days}
      </p>
    );
  const share = (value: number | null) => percent(value, 0, false);
  return (
    <>
      <p>
        {score.n} days: <strong>{score.verdict}</strong>.
      </p>
      <FigureTable
        label="Outcomes"
        head={['outcome', 'days', 'share', '95 % interval', 'control']}
        rows={OUTCOMES.map((name) => {
          const { count, pct, low_pct, high_pct, control_pct } = score[name];
          return [name, String(count), share(pct), `${share(low_pct)} to ${share(high_pct)}`, share(control_pct)];
        })}
      />
      <p class="muted">
        {notes?.held}
        {plain(spots, 3)}.
      </p>
    </>
  );
}
