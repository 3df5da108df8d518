import type { Asked } from '../data/page-answers.ts';
import { newYorkMoment } from '../page-format.ts';
import { navigate, page } from '../state/page.ts';
import { Problem } from './chart-panel.tsx';

/** Renders a placeholder for figures: first an empty line, then a waiting message, or an error message with a hint. */
export function ViewState({ asked }: { asked: Asked<unknown> }) {
  const { problem, isSlow } = asked;
  if (!problem) return isSlow ? <p class="state">Waiting for the server…</p> : <p class="state" />;
  return (
    <div class="state">
      <Problem problem={problem} />
      {problem.nearest.length > 0 && (
        <p>
          {page.value.ticker} has snapshots at{' '}
          {problem.nearest.map((moment) => (
            <button type="button" key={moment} onClick={() => navigate({ at: moment })}>
              {newYorkMoment(moment)}
            </button>
          ))}
        </p>
      )}
      {page.value.at !== null && (
        <button type="button" onClick={() => navigate({ at: null })}>
          Back to live
        </button>
      )}
    </div>
  );
}
