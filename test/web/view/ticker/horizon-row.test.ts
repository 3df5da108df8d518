import { expect, test } from 'bun:test';
import { wallText } from '../../../../web/view/ticker/horizon-row.tsx';

const WALL = {
  ...{ strike: 620, distance_sd: 1.234, touch_1_session: 0.031, touch_5_sessions: 0.21 },
  ...{ wall_lead_pct: 14.2, wall_stability: 0.926 },
};
const UNKNOWN = {
  ...{ strike: 580, distance_sd: null, touch_1_session: null, touch_5_sessions: null },
  ...{ wall_lead_pct: null, wall_stability: null },
};

test.each([
  [WALL, '620: 1.2 sd, touch 3 %, in 5 sessions 21 %, lead 14 %, stays 93 %'],
  [{ ...WALL, touch_5_sessions: null, wall_stability: null }, '620: 1.2 sd, lead 14 %'],
  [UNKNOWN, '580'],
])('the text of a wall leaves out what is not known', (wall, text) => {
  expect(wallText(wall)).toBe(text);
});
