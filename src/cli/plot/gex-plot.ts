import { line, type Style } from './line.ts';
import { type Profile, profileChart } from './profile-chart.ts';
import { type StrikeGex, strikeBars } from './strike-bars.ts';

export interface GexPicture {
  readonly ticker: string;
  readonly simulated: boolean;
  readonly strikes: StrikeGex;
  readonly profile: Profile;
}

/** Of the height, what the profile takes. */
const PROFILE_SHARE = 0.4;
/** Two titles and the line between. */
const FRAME = 3;

/** GEX by strike, and below it the gamma profile, in about so many lines. */
export function gexPlot(
  { ticker, simulated, strikes, profile }: GexPicture,
  width: number,
  height: number,
  style: Style,
): string[] {
  // First in the line: a narrow one does not cut it off.
  const subject = `${simulated ? 'SIMULATED ' : ''}${ticker}`;
  const title = (text: string) => line([{ text: `${subject}  ${text}`, ink: 'title' }], width, style);
  const chart = Math.round((height - FRAME) * PROFILE_SHARE);
  return [
    title('net GEX by strike, dollars per 1 % move'),
    ...strikeBars(strikes, width, height - FRAME - chart, style),
    '',
    title('gamma profile: net GEX were spot elsewhere'),
    ...profileChart(profile, width, chart, style),
  ];
}
