import type { FullAnswer } from '../../../src/client/client.ts';
import { useAnswer, useRested } from '../../data/page-answers.ts';
import { percent, plain, strikeText } from '../../page-format.ts';
import { ExplainButton } from '../../panel/explain-button.tsx';
import { page, pageOptions, tickerCall } from '../../state/page.ts';
import { asOf } from '../../state/page-market.ts';
import { allOptions, expiryCounts } from '../../state/scope.ts';
import { expiriesText, horizonOf } from '../../state/scope-words.ts';

type Horizons = FullAnswer<'get_gex_horizons'>;
type Wall = Horizons['all']['call'];

/** In a replay, the page asks once the moment has stood still for this time, because the odds take longer than the levels. */
const REST_MS = 400;

const MEANING =
  'sd: distance from spot in standard deviations of a session. touch: the odds that the price touches the wall by the close of the session, and within five sessions, risk-neutral. lead: the gamma ' +
  "by which the wall exceeds the second strike of its side. stays: the probability that the wall is at the same strike after the day's turnover.";

/** Renders of which expiries the levels are, and how near, how likely to be touched and how firm their walls are. */
export function HorizonRow() {
  const rested = useRested(asOf.value, asOf.value, REST_MS);
  const moment = page.value.at === null ? asOf.value : rested;
  const { expiries } = pageOptions.value;
  const horizon = horizonOf(expiries);
  // One answer has the levels of the three sets of the switch. For other expiries, they are all that are selected.
  const options = horizon ? allOptions.value : pageOptions.value;
  const call = moment === undefined ? undefined : tickerCall('get_gex_horizons', moment, options);
  const { answer, problem } = useAnswer<Horizons>(call);
  const levels = answer?.asOf === asOf.value ? answer?.body[horizon ?? 'all'] : undefined;
  return (
    <section class="row inset small" aria-label="Walls" data-horizon={horizon ?? 'other'}>
      <strong>Levels: {setText(expiries!)}</strong>
      <ExplainButton id="get_gex_horizons" name="the walls" />
      {levels ? (
        <>
          <span title={MEANING}>Call wall {wallText(levels.call)}</span>
          <span title={MEANING}>Put wall {wallText(levels.put)}</span>
        </>
      ) : (
        <span role="status">{levels === null ? NONE : (problem?.message ?? 'Computing the odds of the walls')}</span>
      )}
    </section>
  );
}

/** Returns the expiries as text, with their number: `next 35 days, 18 of 25 expiries`. */
function setText(expiries: string): string {
  const name = expiries === 'all' && expiryCounts.value ? '' : expiriesText(expiries, Date.parse(asOf.value ?? ''));
  return [name, expiryCounts.value].filter(Boolean).join(', ');
}

const NONE = 'No call or no put with gamma settles by then.';

/** Returns a wall with what is known of it as text. */
export function wallText({ strike, ...wall }: Wall): string {
  const share = (value: number) => percent(100 * value, 0, false);
  const parts = [
    wall.distance_sd === null ? [] : `${plain(wall.distance_sd, 2)} sd`,
    wall.touch_1_session === null || wall.touch_5_sessions === null
      ? []
      : `touch ${share(wall.touch_1_session)}, in 5 sessions ${share(wall.touch_5_sessions)}`,
    wall.wall_lead_pct === null ? [] : `lead ${percent(wall.wall_lead_pct, 0, false)}`,
    wall.wall_stability === null ? [] : `stays ${share(wall.wall_stability)}`,
  ].flat();
  return [strikeText(strike), parts.join(', ')].filter(Boolean).join(': ');
}
