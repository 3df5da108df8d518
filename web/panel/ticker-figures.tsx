import type { Levels } from '../data/page-answers.ts';
import {
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
import { Figure, type FigureProps } from './figure.tsx';

/** Renders the seven figures of a ticker. `before` are the levels at the earlier moment of a comparison. */
export function TickerFigures({ levels, before }: { levels: Levels; before?: Levels | undefined }) {
  return (
    <div class="figures" data-figures>
      {tickerFigures(levels, asOf.value).map((figure) => {
        const earlier = before && tickerFigures(before, undefined).find(({ id }) => id === figure.id);
        return (
          <Figure
            key={figure.id}
            {...figure}
            before={earlier && comparison(figure.number, earlier.number, earlier.value, figure.print)}
          />
        );
      })}
    </div>
  );
}

export interface TickerFigure extends FigureProps {
  /** The value as a number. Null if the value is unknown. */
  readonly number: number | null;
  readonly print: (value: number) => string;
}

/** Returns the figures of a ticker. A dash and a reason replace the flip if it is unresolved, and the share of volume if it is unknown. */
export function tickerFigures(levels: Levels, moment: string | undefined): TickerFigure[] {
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
  return [
    figure('spot_price', 'Spot', spot, price, moment ? `${newYorkMoment(moment)} NY` : ''),
    figure('call_wall', 'Call wall', levels.call_wall, strikeText, distance(levels.call_wall)),
    figure(
      'gex_flip',
      'Gamma flip',
      isFlipKnown ? levels.gex_flip : null,
      price,
      isFlipKnown ? distance(levels.gex_flip) : 'changes sign nowhere within half of spot',
    ),
    figure('put_wall', 'Put wall', levels.put_wall, strikeText, distance(levels.put_wall)),
    figure('max_pain', 'Max pain', levels.max_pain, strikeText, `${newYorkDay(levels.expiry)} expiry`),
    figure(
      'net_gex',
      'Net GEX',
      net,
      signedAmount,
      `per 1 % · ${levels.regime.replace('ative_', '. ').replace('itive_', '. ')}`,
      { tone: signTone(net) },
    ),
    figure(
      'hedging',
      'Hedging',
      hedging.shares_per_pct,
      (value) => `${signedAmount(value)} sh`,
      volume === null ? 'per 1 % · volume unknown' : `per 1 % · ${percent(volume, 1, false)} ADV`,
      { tone: signTone(hedging.shares_per_pct) },
    ),
  ];
}

function comparison(now: number | null, then: number | null, was: string, print: (value: number) => string) {
  if (now === null || then === null)
    return { value: was, difference: now === then ? 'still unknown' : 'not comparable' };
  return { value: was, difference: differenceText(now - then, print) };
}

/** Returns one line of text with the names and prices of the levels. Chart platforms accept this format. */
export function levelsLine(ticker: string, levels: Levels): string {
  const flip = levels.flip_resolved ? `, Flip, ${levels.gex_flip.toFixed(2)}` : '';
  return `$${ticker}: Call wall, ${levels.call_wall}, Put wall, ${levels.put_wall}${flip}, Max pain, ${levels.max_pain}, Spot, ${levels.spot_price}`;
}
