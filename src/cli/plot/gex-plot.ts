import { type Style, titleLine } from './line.ts';
import { type Profile, profileChart } from './profile-chart.ts';
import { type StrikeGex, strikeBars } from './strike-bars.ts';

export interface GexPicture {
  readonly ticker: string;
  readonly simulated: boolean;
  readonly strikes: StrikeGex;
  readonly profile: Profile;
}

const PROFILE_SHARE = 0.4;
/** Maximum height of the profile, in lines. In a taller chart, every slope would look steep. */
const PROFILE_MOST = 25;
/** Minimum width of a plot with the profile beside the bars. There are `GAP` columns between the bars and the profile. */
const WIDE = 132;
const GAP = '    ';

/** Draws GEX by strike within `height` lines, with the gamma profile below or beside the bars. */
export function gexPlot(picture: GexPicture, width: number, height: number, style: Style): string[] {
  if (width >= WIDE) {
    const half = Math.floor((width - GAP.length) / 2);
    return sideBySide(
      strikesPanel(picture, half, height, style),
      profilePanel(picture, half, Math.min(height, PROFILE_MOST), style),
      half,
    );
  }
  const below = Math.ceil((height - 1) * PROFILE_SHARE);
  return [
    ...strikesPanel(picture, width, height - 1 - below, style),
    '',
    ...profilePanel(picture, width, below, style),
  ];
}

function strikesPanel(picture: GexPicture, width: number, height: number, style: Style): string[] {
  return [
    titleLine(picture, 'net GEX by strike, dollars per 1 % move', width, style),
    ...strikeBars(picture.strikes, width, height - 1, style),
  ];
}

function profilePanel(picture: GexPicture, width: number, height: number, style: Style): string[] {
  return [
    titleLine(picture, 'gamma profile: net GEX at other spots', width, style),
    ...profileChart(picture.profile, width, height - 1, style),
  ];
}

function sideBySide(left: readonly string[], right: readonly string[], width: number): string[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const [first, second] = [left[i] ?? '', right[i] ?? ''];
    const blank = ' '.repeat(width - Bun.stripANSI(first).length);
    return second === '' ? first : `${first}${blank}${GAP}${second}`;
  });
}
