import { expect, test } from 'bun:test';
import { horizonText } from '../../../../web/view/ticker/horizon-row.tsx';

type Levels = Parameters<typeof horizonText>[0];
const CALL = {
  ...{ strike: 620, distance_sd: 1.234, touch_1_session: 0.031, touch_5_sessions: 0.21 },
  ...{ wall_lead_pct: 14.2, wall_stability: 0.926 },
};
const UNKNOWN = {
  ...{ strike: 580, distance_sd: null, touch_1_session: null, touch_5_sessions: null },
  ...{ wall_lead_pct: null, wall_stability: null },
};
const LEVELS = { net_gex_mil: -53.4, regime: 'negative_gamma', gex_flip: 595, flip_resolved: true } as Levels;

test('a horizon is one line, without what is not known', () => {
  expect(horizonText({ ...LEVELS, call: CALL, put: UNKNOWN })).toBe(
    'net gamma −53.4M, negative gamma · flip 595 · call wall 620 (1.2 sd, touch 3 % by the close, 21 % in 5 sessions, lead 14 %, stays 93 %) · put wall 580',
  );
  expect(horizonText({ ...LEVELS, flip_resolved: false, call: UNKNOWN, put: UNKNOWN })).toContain('· flip none ·');
});
