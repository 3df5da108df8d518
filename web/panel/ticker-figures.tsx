import { tradeUnit } from '../chart/hedging-moves.ts';
import type { Levels } from '../data/page-answers.ts';
import {
  amount,
  differenceText,
  newYorkDay,
  newYorkMoment,
  percent,
  price,
  signedAmount,
  signTone,
  strikeText,
  UNKNOWN,
} from '../page-format.ts';
import { asOf } from '../state/page-market.ts';
import { freshness, staleText } from '../state/ribbon.ts';
import { previousClose } from '../state/time-stops.ts';
import { Figure, type FigureProps } from './figure.tsx';

/** Renders the seven figures of a ticker. `before` are the levels at the earlier moment of a comparison. */
export function TickerFigures({ levels, before }: { levels: Levels; before?: Levels | undefined }) {
  return (
    <div class="figures" data-figures>
      {tickerFigures(levels, asOf.value, freshness.value, previousClose.value?.spot, staleText.value).map((figure) => {
        const earlier = before && tickerFigures(before).find(({ id }) => id === figure.id);
        return <Figure key={figure.id} {...figure} before={earlier && comparison(figure, earlier)} />;
      })}
    </div>
  );
}

export interface TickerFigure extends FigureProps {
  /** The value as a number. Null if the value is unknown. */
  readonly number: number | null;
  readonly print: (value: number) => string;
}

const UNDETERMINED = 'undetermined';
/** Below this probability of the sign the regime is undetermined, percent. */
const ODDS_LEAST = 80;
/** Below this sign margin the regime is undetermined, percent. */
const MARGIN_LEAST = 2.5;
/** Below this share of open interest with a known side, in percent, the sign of net gamma by signed flow is often wrong, as the server notes. */
const SIGNED_LEAST = 10;
const REGIMES: Readonly<Record<string, readonly [name: string, effect: string]>> = {
  positive_gamma: ['positive gamma', 'dealers damp moves'],
  negative_gamma: ['negative gamma', 'dealers amplify moves'],
};

/**
 * Returns the figures of a ticker. A dash and a reason replace the flip if it is unresolved, and the share of volume if it is unknown.
 * `moment` is the time of the quotes, `age` is their age as text, `closed` is the spot at the previous close, and `stale` is a text if the quotes
 * are too old. It takes the place of the change on the day.
 */
export function tickerFigures(levels: Levels, moment?: string, age = '', closed?: number, stale = ''): TickerFigure[] {
  const { spot_price: spot, hedging } = levels;
  const distance = (level: number) => percent(100 * (level / spot - 1));
  const isFlipKnown = levels.flip_resolved;
  const net = levels.net_gex_mil * 1e6;
  const volume = hedging.share_of_volume_pct;
  const figure = (
    id: string,
    name: string,
    number: number | null,
    print: (value: number) => string,
    note: string,
    more: Partial<FigureProps> = {},
  ): TickerFigure => ({
    id,
    name,
    number,
    print,
    value: number === null ? UNKNOWN : print(number),
    exact: number === null ? note : String(number),
    note,
    ...more,
  });
  const signed = levels.by_flow?.signed_share_pct ?? 100;
  const isThin = signed < SIGNED_LEAST && levels.sign_convention.includes('prints');
  const [regime, effect] = isThin
    ? [UNDETERMINED, `prints sign ${percent(signed, 2, false)} of open interest`]
    : (REGIMES[levels.regime] ?? [UNDETERMINED, whyUndetermined(levels)]);
  const shares = hedging.shares_per_pct;
  const unit = tradeUnit(levels.ticker);
  const change = closed === undefined ? 0 : spot / closed - 1;
  return [
    figure(
      'spot_price',
      'Spot',
      spot,
      price,
      [moment && newYorkMoment(moment), stale ? '' : age].filter(Boolean).join(' · '),
      {
        meaning:
          stale || closed === undefined ? stale : `${change < 0 ? '▼' : '▲'} ${percent(100 * change)} on the day`,
        tone: stale ? 'stale' : '',
        exact: closed === undefined ? String(spot) : `${spot}, previous close ${closed}`,
      },
    ),
    figure('call_wall', 'Call wall', levels.call_wall, strikeText, 'from spot', {
      meaning: distance(levels.call_wall),
    }),
    figure(
      'gex_flip',
      'Gamma flip',
      isFlipKnown ? levels.gex_flip : null,
      price,
      isFlipKnown ? zoneText(levels) : 'nowhere within half of spot or the quoted strikes',
      { meaning: isFlipKnown ? distance(levels.gex_flip) : '' },
    ),
    figure('put_wall', 'Put wall', levels.put_wall, strikeText, 'from spot', { meaning: distance(levels.put_wall) }),
    figure('max_pain', 'Max pain', levels.max_pain, strikeText, `${newYorkDay(levels.expiry)} expiry`, {
      meaning: distance(levels.max_pain),
    }),
    figure('net_gex', 'Net GEX, $ per 1 %', net, signedAmount, odds(levels, effect), {
      meaning: regime,
      tone: regime === UNDETERMINED ? '' : signTone(net),
    }),
    figure(
      'hedging',
      'Hedging, on ±1 %',
      shares,
      (value) => `${signedAmount(value)} ${unit}`,
      volume === null ? 'volume unknown' : `${percent(volume, 1, false)} of daily volume`,
      {
        value: `${amount(Math.abs(shares))} ${unit}`,
        meaning:
          shares === 0
            ? ''
            : regime === UNDETERMINED
              ? 'direction undetermined'
              : shares > 0
                ? 'buy falls, sell rises'
                : 'sell falls, buy rises',
      },
    ),
  ];
}

/** Returns why the regime is undetermined. */
function whyUndetermined({ spot_in_flip_zone, sign_margin_pct }: Levels): string {
  if (spot_in_flip_zone) return 'spot in the zone of the flip';
  return sign_margin_pct < MARGIN_LEAST ? 'too near zero' : '';
}

/** Returns the effect of the regime with the odds of the sign. */
function odds({ regime_probability }: Levels, effect: string): string {
  const pct = 100 * regime_probability;
  const text = `odds ${percent(pct, 0, false)}`;
  return [effect, effect === '' ? `${text}, below ${ODDS_LEAST}` : text].filter(Boolean).join(' · ');
}

/** Returns the zone around the flip in which quotes do not determine the sign, as text. */
function zoneText({ flip_zone }: Levels): string {
  return flip_zone ? `zone ${price(flip_zone.low)}–${price(flip_zone.high)}` : '';
}

/** Returns how a figure differs from its earlier value. Trades of one direction are compared by size, because the tile says the direction. */
function comparison(
  { id, number: now, print }: TickerFigure,
  { number: then, value }: TickerFigure,
): FigureProps['before'] {
  if (now === null || then === null)
    return { value, difference: now === then ? 'still unknown' : 'not comparable', tone: '' };
  const isSize = id === 'hedging' && now * then > 0;
  const [to, from] = isSize ? [Math.abs(now), Math.abs(then)] : [now, then];
  const share = from === 0 || to === from ? '' : ` (${percent((100 * (to - from)) / Math.abs(from), 1)})`;
  const was = isSize ? value : print(from);
  return { value: `${was}${share}`, difference: differenceText(to - from, print), tone: signTone(to - from) };
}

/** Returns one line of text with the names and prices of the levels. Chart platforms accept this format. */
export function levelsLine(ticker: string, levels: Levels): string {
  const flip = levels.flip_resolved ? `, Flip, ${levels.gex_flip.toFixed(2)}` : '';
  return `$${ticker}: Call wall, ${levels.call_wall}, Put wall, ${levels.put_wall}${flip}, Max pain, ${levels.max_pain}, Spot, ${levels.spot_price}`;
}
