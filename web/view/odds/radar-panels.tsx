import { useMemo, useState } from 'preact/hooks';
import { DensityChart, radarLevels } from '../../chart/density-chart.tsx';
import { type CursorPair, densityReadout, fitSentence, lognormalReadout } from '../../chart/density-text.ts';
import type { Radar } from '../../data/page-answers.ts';
import {
  countText,
  marketNotes,
  newYorkDay,
  percent,
  plain,
  price,
  strikeText,
  UNKNOWN,
  volatility,
} from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { Facts } from '../../panel/facts.tsx';
import { page, setOwn } from '../../state/page.ts';
import type { AskedCall } from '../../state/page-market.ts';
import { columnTable } from '../../state/panels.ts';
import { horizonText } from '../../state/scope-words.ts';
import { whipsawParts } from './whipsaw-parts.ts';

const DTES = ['0', '1', '7', '14', '30', '60', '90', '180', '365'];
const LIMITS = ['5', '10', '20', '50'];
/** Default values for the radar request, if the address has no values. */
export const RADAR_INITIAL = { dte: '30', limit: '10' } as const;

/** Renders the price density of the ticker with two cursors. The expiry is the closest to the chosen number of days. */
export function DensityPanel({ asked }: { asked: AskedCall<Radar> }) {
  const { answer } = asked;
  const radar = answer?.body;
  const { own } = page.value;
  const [held, setHeld] = useState<CursorPair | null>(null);
  const table = useMemo(() => radar && columnTable(radar.density_curve), [radar]);
  const pair = radar && (held ?? cursorsOf(own.cut, radar));
  const onMove = (next: CursorPair, isDone: boolean) => {
    setHeld(isDone ? null : next);
    if (!isDone) return;
    setOwn('cut', [page.value.ticker, ...next.map((at) => at.toFixed(2))].join(':'), false);
  };
  const density = radar?.state_density;
  return (
    <ChartPanel
      id="density"
      title="Density at expiry"
      unit={
        density
          ? `${newYorkDay(density.expiry, true)}, ${countText(density.days_to_expiry)} ${density.days_to_expiry === 1 ? 'day' : 'days'} · thin: lognormal at the money · levels of ${horizonText(radar.gex_boundaries.expiries)}`
          : ''
      }
      {...asked}
      table={table}
      readout={radar ? densityReadout(radar, pair!) : ''}
      controls={
        <OwnSelect
          name="dte"
          label="Wanted days to expiry"
          values={DTES}
          initial={RADAR_INITIAL.dte}
          text={(days) => `${days} ${days === '1' ? 'day' : 'days'}`}
        />
      }
    >
      {radar && (
        <>
          <DensityChart radar={radar} pair={pair!} onMove={onMove} />
          <DensityFacts radar={radar} pair={pair!} notes={densityNotes(answer!.notes)} />
        </>
      )}
    </ChartPanel>
  );
}

/**
 * Returns the prices of the two cursors. The address contains the cursors of one ticker, such as `SPY:600.00:650.00`. Returns the prices of
 * the walls if the address has no cursors for this ticker.
 */
function cursorsOf(cut: string | undefined, { gex_boundaries: { put_wall, call_wall } }: Radar): CursorPair {
  const [of, a, b] = cut?.split(':') ?? [];
  const isOwn = of === page.value.ticker;
  const at = (text: string | undefined, initial: number) => (isOwn && Number(text) > 0 ? Number(text) : initial);
  return [at(a, put_wall), at(b, call_wall)];
}

/** Returns the notes without that on the large prints, which the view does not show. */
function densityNotes(notes: string): string {
  return marketNotes(notes.replace(/[^.]*\bwhale_fiat_kinetic\b[^.]*\.?/g, ''));
}

function DensityFacts({ radar, pair, notes }: { radar: Radar; pair: CursorPair; notes: string }) {
  const { state_density: density, spot_price: spot } = radar;
  const away = (level: number) => `${price(level)}, ${percent(100 * (level / spot - 1), 1)}`;
  return (
    <div class="stack inset">
      <Facts
        of={[
          ['By the lognormal', lognormalReadout(radar, pair)],
          ['Forward', price(density.forward)],
          ['Most likely', away(density.mode)],
          ['Median', away((density.quantiles as Readonly<Record<string, number>>).p50!)],
          ['Volatility at the money', volatility(density.atm_iv, 2)],
          ['Expected move, one standard deviation', `± ${price(density.expected_move)}`],
          ['Straddle at the forward', price(radar.straddle_move)],
          ['Skewness of the log return', plain(density.skewness, 3)],
          ['Divergence from the lognormal', `${plain(density.lognormal_divergence, 3)} nats`],
        ]}
      />
      <p>{fitSentence(density)}</p>
      {notes && <p class="muted">{notes}</p>}
    </div>
  );
}

/** Renders the whipsaw index and its components. */
export function WhipsawPanel({ asked }: { asked: AskedCall<Radar> }) {
  const radar = asked.answer?.body;
  const parts = radar ? whipsawParts(radar) : [];
  const index = radar?.whipsaw_risk_index ?? null;
  return (
    <ChartPanel
      id="whipsaw"
      title="Whipsaw risk"
      unit="0 calm to 100, mean of its parts"
      {...asked}
      table={
        radar && { columns: ['part', 'value', 'why'], rows: parts.map((each) => [each.name, each.value, each.why]) }
      }
    >
      {radar && (
        <div class="parts stack inset" data-whipsaw={index ?? 'unknown'}>
          <strong class="lead">{index === null ? UNKNOWN : countText(index)}</strong>
          <ul class="stack">
            {parts.map(({ name, value, why }) => (
              <Part key={name} name={name} value={value} text={countText(value)} why={why} />
            ))}
          </ul>
        </div>
      )}
    </ChartPanel>
  );
}

function Part({ name, value, text, why }: { name: string; value: number | null; text: string; why?: string }) {
  return (
    <li>
      <span>{name}</span>
      <span class="number">{text}</span>
      <span class="meter" aria-hidden="true">
        <i style={{ width: `${Math.min(100, value ?? 0)}%` }} />
      </span>
      {why && <span class="muted">{value === null ? `not counted: ${why}` : why}</span>}
    </li>
  );
}

/** Renders how strongly gamma is concentrated on a few strikes. */
export function ConcentrationPanel({ asked }: { asked: AskedCall<Radar> }) {
  const radar = asked.answer?.body;
  const strikes = radar && (radar.largest_gamma_strikes ?? radar.concentrated_strikes);
  const table = useMemo(
    () =>
      strikes && {
        columns: ['strike', 'share_pct'],
        rows: strikes.strike.map((at, i) => [at, strikes.share_pct[i]!]),
      },
    [strikes],
  );
  const names = new Map(radar && radarLevels(radar).map((level) => [level.price, level.name]));
  const most = Math.max(...(strikes?.share_pct ?? []), 1e-9);
  return (
    <ChartPanel
      id="concentration"
      title="Concentration"
      unit="share of gross gamma, %"
      {...asked}
      table={table}
      controls={
        <OwnSelect
          name="limit"
          label="Number of strikes"
          values={LIMITS}
          initial={RADAR_INITIAL.limit}
          text={(limit) => `${limit} strikes`}
        />
      }
    >
      {radar && (
        <div class="parts stack inset">
          <p>
            The five largest strikes have {percent(radar.institutional_concentration_pct, 1, false)} of the gamma of{' '}
            {newYorkDay(radar.state_density.expiry, true)}, and{' '}
            {percent(radar.institutional_concentration_all_expiries_pct, 1, false)} over all expiries (
            {radar.concentrated_strikes_all_expiries.strike.map((at) => strikeText(at)).join(', ')}).
          </p>
          <ul class="short stack">
            {strikes!.strike.map((at, i) => {
              const level = names.get(at);
              const share = strikes!.share_pct[i]!;
              return (
                <Part
                  key={at}
                  name={level ? `${strikeText(at)} ${level}` : strikeText(at)}
                  value={(100 * share) / most}
                  text={percent(share, 1, false)}
                />
              );
            })}
          </ul>
        </div>
      )}
    </ChartPanel>
  );
}
