import { expect, test } from 'bun:test';
import { signFacts } from '../../../../web/view/ticker/sign-row.tsx';

type Certainty = Parameters<typeof signFacts>[0];
const BAND = { low: 590, high: 595, sticky_strike: 595, sticky_moneyness: 590.5, ssr: null, ssr_ratio: 1.5 };
const LEVELS: Certainty = {
  regime_probability: 0.764,
  flip_zone: { low: 588, high: 601.25 },
  spot_in_flip_zone: true,
  flip_band: BAND,
};

/** Returns the texts of the facts, without the buttons that explain them. */
const textsOf = (levels: Certainty) =>
  signFacts(levels).map(([, value]) => (value as unknown as { props: { children: [string] } }).props.children[0]);

test.each([
  [
    LEVELS,
    [
      '76.4 %; the regime is undetermined below 80 %',
      '588.00 to 601.25; spot is in it, so the regime is undetermined',
      'sticky strike 595.00, sticky moneyness 590.50, SSR 1.5 none',
    ],
  ],
  [
    { ...LEVELS, flip_zone: null, spot_in_flip_zone: false, regime_probability: 1 },
    ['100.0 %; the regime is undetermined below 80 %', 'none, as the flip is not resolved'],
  ],
])('sign and flip are told with what they rest on', (levels, texts) => {
  expect(textsOf(levels).slice(0, texts.length)).toEqual(texts);
});
