import { type Hedging, movesWithin, profileReadout } from '../../chart/hedging-moves.ts';
import { cursorPrice } from '../../chart/price-axis.ts';
import { hedgingTable, profileTable, SpotProfile } from '../../chart/spot-profile.tsx';
import { type Levels, type ProfileAnswer, useAnswer, useRested } from '../../data/page-answers.ts';
import { requestOf } from '../../operations.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { page, pageOptions, tickerCall } from '../../state/page.ts';
import { gexView } from '../../state/page-market.ts';
import { priceRange } from '../../state/price-range.ts';
import { WithField } from './combined-panel.tsx';

interface ProfilePanelProps {
  readonly profile: ProfileAnswer;
  readonly levels: Levels;
  readonly before: ProfileAnswer | undefined;
  readonly moment: string | undefined;
}

const CURVES = { gamma: 'net gamma', shares: 'shares' } as const;

/** Renders what dealers trade if spot moves: net gamma at other spots, or the shares of the whole move, on the page's price axis. */
export function ProfilePanel({ profile, levels, before, moment }: ProfilePanelProps) {
  const { own } = page.value;
  const options = pageOptions.value;
  const cursor = cursorPrice.value;
  const wantsShares = own.curve === 'shares';
  const profileCall = tickerCall('get_gex_profile', moment, options);
  const moves = movesWithin(priceRange.value).join();
  // The server prices the chain at up to 41 spots for this answer, so the page asks only if the member looks at a move.
  const wanted =
    moves && (wantsShares || cursor !== null)
      ? tickerCall('get_hedging_profile', moment, { moves, ...options })
      : undefined;
  const call = useRested(wanted, wanted && requestOf(wanted).path, REST_MS);
  const asked = useAnswer<Hedging>(call);
  // The shares must be those of the snapshot and the options of the profile.
  const { moves: _, ...shown } = asked.answer?.call.args ?? {};
  const hedging =
    requestOf({ ...profileCall, args: shown }).path === requestOf(profileCall).path ? asked.answer : undefined;
  const isShares = wantsShares && hedging !== undefined;
  return (
    <ChartPanel
      id="profile"
      class="profile-panel beside"
      title="If spot moves"
      unit={isShares ? 'shares that dealers trade on the way' : 'net GEX, $ per 1 %'}
      call={isShares ? hedging.call : profileCall}
      answer={isShares ? hedging : gexView.asked.value.answer}
      isSlow={wantsShares && asked.isSlow}
      table={isShares ? hedgingTable(hedging.body) : profileTable(profile)}
      readout={profileReadout(profile, cursor ?? profile.spot_price, before, hedging?.body)}
      controls={
        <>
          <OwnSelect
            name="curve"
            label="Curve"
            values={Object.keys(CURVES)}
            initial="gamma"
            text={(value) => CURVES[value as keyof typeof CURVES] ?? value}
          />
          <WithField />
        </>
      }
    >
      <SpotProfile profile={profile} levels={levels} before={before} hedging={isShares ? hedging.body : undefined} />
    </ChartPanel>
  );
}

/** Time without a change after which the page asks for the shares, in ms: while the member zooms or replays, it asks nothing. */
const REST_MS = 250;
