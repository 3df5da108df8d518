import type { Levels } from '../../data/page-answers.ts';
import { FigureTable } from '../../grid/figure-table.tsx';
import { percent, plain, price, signedAmount, UNKNOWN } from '../../page-format.ts';
import { ExplainButton } from '../../panel/explain-button.tsx';
import { Facts, type NamedFact } from '../../panel/facts.tsx';

const NAMES = {
  calls_long_puts_short: 'calls long, puts short',
  short_both: 'short both',
  long_both: 'long both',
  flow: 'by signed flow',
} as const satisfies Record<keyof Levels['sign_scenarios'], string>;
type Scenario = keyof typeof NAMES;

/** Renders net gamma by each assumption about what dealers hold, and how far sign and flip are certain. The details open at a press. */
export function SignRow({ levels }: { levels: Levels }) {
  const scenarios = levels.sign_scenarios;
  return (
    <details class="sign-row inset small" data-sign>
      <summary>
        <strong>If dealers are</strong>
        {(Object.keys(NAMES) as Scenario[]).map((name) => (
          <span key={name}>
            {NAMES[name]} {netText(scenarios[name])}
          </span>
        ))}
      </summary>
      <FigureTable
        label="Net gamma by what dealers may hold"
        head={['If dealers are', 'Net GEX', 'Gamma', 'Margin', 'Flip']}
        rows={(Object.keys(NAMES) as Scenario[]).map((name) => [NAMES[name], ...cellsOf(scenarios[name])])}
      />
      <Facts of={signFacts(levels)} />
    </details>
  );
}

const netText = (scenario: Levels['sign_scenarios'][Scenario]) =>
  scenario ? signedAmount(1e6 * scenario.net_gex_mil) : UNKNOWN;

function cellsOf(scenario: Levels['sign_scenarios'][Scenario]): string[] {
  if (!scenario) return [UNKNOWN, 'no prints', UNKNOWN, UNKNOWN];
  return [
    netText(scenario),
    scenario.regime.replace('_gamma', ''),
    percent(scenario.sign_margin_pct, 1, false),
    scenario.gex_flip === null ? 'none' : price(scenario.gex_flip),
  ];
}

/** Returns how far sign and flip are certain, each with its meaning. */
export function signFacts(
  levels: Pick<Levels, 'regime_probability' | 'flip_zone' | 'spot_in_flip_zone' | 'flip_band'>,
): NamedFact[] {
  const { flip_zone: zone, flip_band: band } = levels;
  const flip = (value: number | null) => (value === null ? 'none' : price(value));
  const explained = (name: string, field: string, text: string, meaning: string): NamedFact => [
    name,
    <>
      {text} <ExplainButton id={`get_live_gex_nodes.${field}`} name={name} />
    </>,
    meaning,
  ];
  return [
    explained(
      'Odds of the sign',
      'regime_probability',
      `${percent(100 * levels.regime_probability, 1, false)}; the regime is undetermined below 80 %`,
      'The probability that the dealers’ net gamma has the sign of net GEX, by a prior of what they hold. It is a choice, and no estimate.',
    ),
    explained(
      'Zone of the flip',
      'spot_in_flip_zone',
      zone
        ? `${price(zone.low)} to ${price(zone.high)}; spot is ${levels.spot_in_flip_zone ? 'in it, so the regime is undetermined' : 'outside'}`
        : 'none, as the flip is not resolved',
      'Spots around the flip at which the sign margin is below 2.5 %: quotes do not determine the sign of net GEX there.',
    ),
    explained(
      'Flip by what volatilities do',
      'flip_band.ssr',
      `sticky strike ${flip(band.sticky_strike)}, sticky moneyness ${flip(band.sticky_moneyness)}, SSR ${plain(band.ssr_ratio, 2)} ${flip(band.ssr)}`,
      'If spot moves, each strike keeps its volatility, or each ratio of strike to forward does, or the one at the money moves by the ratio SSR times the slope of the smile.',
    ),
  ];
}
