import type { FullAnswer } from '../../../src/client/client.ts';
import { useAnswer, useRested } from '../../data/page-answers.ts';
import { percent, plain, price, signedAmount, strikeText } from '../../page-format.ts';
import { OwnSelect } from '../../panel/choices.tsx';
import { page, tickerCall } from '../../state/page.ts';
import { asOf } from '../../state/page-market.ts';

type Horizons = FullAnswer<'get_gex_horizons'>;
type Levels = Horizons['all'];

const NAMES = { '35d': '35 days', session: 'Session', all: 'All expiries' } as const satisfies Partial<
  Record<keyof Horizons, string>
>;
type Name = keyof typeof NAMES;
const [FIRST] = Object.keys(NAMES) as [Name];

/** In a replay, the page asks once the moment has stood still for this time, because the odds take longer than the levels. */
const REST_MS = 400;

const MEANING =
  'sd: distance from spot in standard deviations of a session. touch: the odds that the price touches the wall, risk-neutral. lead: the gamma ' +
  "by which the wall exceeds the second strike of its side. stays: the probability that the wall is at the same strike after the day's turnover.";

/** Renders the levels of a horizon in one row, those of 35 days first, with the choice of the horizon. */
export function HorizonRow() {
  const rested = useRested(asOf.value, asOf.value, REST_MS);
  const moment = page.value.at === null ? asOf.value : rested;
  const call = moment === undefined ? undefined : tickerCall('get_gex_horizons', moment, page.value.options);
  const { answer, problem } = useAnswer<Horizons>(call || undefined);
  const chosen = page.value.own.horizon;
  const name = chosen !== undefined && chosen in NAMES ? (chosen as Name) : FIRST;
  const levels = answer?.asOf === asOf.value ? answer?.body[name] : undefined;
  return (
    <section class="row inset small" aria-label="Levels by horizon" data-horizon={name}>
      <OwnSelect
        name="horizon"
        label="Horizon of the levels"
        values={Object.keys(NAMES)}
        initial={FIRST}
        text={(each) => NAMES[each as Name] ?? each}
      />
      {levels ? (
        horizonTexts(levels).map((text) => (
          <span key={text} title={MEANING}>
            {text}
          </span>
        ))
      ) : (
        <span role="status">{levels === null ? NONE : (problem?.message ?? 'Computing the odds of the walls')}</span>
      )}
    </section>
  );
}

const NONE = 'No call or no put with gamma settles by then.';

/** Returns the levels of a horizon as texts: net gamma, flip, call wall and put wall. */
export function horizonTexts(levels: Levels): string[] {
  return [
    `Net ${signedAmount(1e6 * levels.net_gex_mil)}, ${levels.regime.replace('_', ' ')}`,
    `Flip ${levels.flip_resolved ? price(levels.gex_flip) : 'none'}`,
    `Call wall ${wallText(levels.call)}`,
    `Put wall ${wallText(levels.put)}`,
  ];
}

function wallText({ strike, ...wall }: Levels['call']): string {
  const share = (value: number) => percent(100 * value, 0, false);
  const parts = [
    wall.distance_sd === null ? [] : `${plain(wall.distance_sd, 2)} sd`,
    wall.touch_1_session === null || wall.touch_5_sessions === null
      ? []
      : `touch ${share(wall.touch_1_session)} by the close and ${share(wall.touch_5_sessions)} in 5 sessions`,
    wall.wall_lead_pct === null ? [] : `lead ${percent(wall.wall_lead_pct, 0, false)}`,
    wall.wall_stability === null ? [] : `stays ${share(wall.wall_stability)}`,
  ].flat();
  return [strikeText(strike), parts.join(', ')].filter(Boolean).join(': ');
}
