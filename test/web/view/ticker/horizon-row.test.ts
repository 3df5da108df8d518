import { expect, test } from 'bun:test';
import { horizonTexts } from '../../../../web/view/ticker/horizon-row.tsx';

type Levels = Parameters<typeof horizonTexts>[0];
const CALL = {
  ...{ strike: 620, distance_sd: 1.234, touch_1_session: 0.031, touch_5_sessions: 0.21 },
  ...{ wall_lead_pct: 14.2, wall_stability: 0.926 },
};
const UNKNOWN = {
  ...{ strike: 580, distance_sd: null, touch_1_session: null, touch_5_sessions: null },
  ...{ wall_lead_pct: null, wall_stability: null },
};
const LEVELS = { net_gex_mil: -53.4, regime: 'negative_gamma', gex_flip: 595.1234, flip_resolved: true } as Levels;

test('the texts of a horizon leave out what is not known', () => {
  expect(horizonTexts({ ...LEVELS, call: CALL, put: UNKNOWN })).toEqual([
    'Net −53.4M, negative gamma',
    'Flip 595.12',
    'Call wall 620: 1.2 sd, touch 3 % by the close and 21 % in 5 sessions, lead 14 %, stays 93 %',
    'Put wall 580',
  ]);
  expect(horizonTexts({ ...LEVELS, flip_resolved: false, call: UNKNOWN, put: UNKNOWN })[1]).toBe('Flip none');
});
