import { formatDollars, formatPrice } from './figures.ts';
import { type Style, titleLine } from './line.ts';
import { type TimeLine, timeChart } from './time-chart.ts';

export interface HistoryPicture {
  readonly ticker: string;
  readonly simulated: boolean;
  /** Labels of the first and the last point in time. */
  readonly ends: readonly [string, string];
  /** The prices of spot and of the levels over time, in dollars. Spot is the first line. */
  readonly prices: readonly TimeLine[];
  /** Net GEX, dollars per 1 % move. */
  readonly netGex: Float64Array;
}

const NET_SHARE = 0.35;

/** Draws spot and levels over time within `height` lines, with a chart of net GEX below. */
export function historyPlot(picture: HistoryPicture, width: number, height: number, style: Style): string[] {
  const { ends, prices, netGex } = picture;
  const below = Math.ceil((height - 3) * NET_SHARE);
  const title = (text: string) => titleLine(picture, text, width, style);
  return [
    title('spot and levels, dollars'),
    ...timeChart({ lines: prices, ends, zero: false, figure: formatPrice }, width, height - 3 - below, style),
    '',
    title('net GEX, dollars per 1 % move'),
    ...timeChart(
      { lines: [{ name: 'net', values: netGex }], ends, zero: true, figure: formatDollars },
      width,
      below,
      style,
    ),
  ];
}
