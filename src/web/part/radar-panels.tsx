import { useMemo, useState } from 'preact/hooks';
import {
  type CursorPair,
  DensityChart,
  densityReadout,
  densityTable,
  fitSentence,
  lognormalReadout,
  radarLevels,
} from '../chart/density-chart.tsx';
import type { Asked, Radar } from '../data/answers.ts';
import { amount, cleanText, count, newYorkDay, percent, plain, price, strike, UNKNOWN, volatility } from '../format.ts';
import type { Call } from '../operations.ts';
import { page, setOwn } from '../state/page.ts';
import { ChartPanel } from './chart-panel.tsx';

const DTES = ['0', '1', '7', '14', '30', '60', '90', '180', '365'];
const LIMITS = ['5', '10', '20', '50'];
/** What the radar asks for if the address does not say. */
export const RADAR_INITIAL = { dte: '30', limit: '10' } as const;

interface RadarProps {
  readonly asked: Asked<Radar>;
  readonly call: Call | undefined;
}

/** The density of the ticker at the expiry nearest the wanted days, with two cursors. */
export function DensityPanel({ asked, call }: RadarProps) {
  const { answer } = asked;
  const radar = answer?.body;
  const { own } = page.value;
  const [held, setHeld] = useState<CursorPair | null>(null);
  const table = useMemo(() => radar && densityTable(radar), [radar]);
  const pair = radar && (held ?? cursorsOf(own, radar));
  const onMove = (next: CursorPair, isDone: boolean) => {
    setHeld(isDone ? null : next);
    if (!isDone) return;
    setOwn('low', next[0].toFixed(2), false);
    setOwn('high', next[1].toFixed(2), false);
  };
  const density = radar?.state_density;
  return (
    <ChartPanel
      id="density"
      class="density-panel"
      title="Density at expiry"
      unit={
        density
          ? `${newYorkDay(`${density.expiry}T17:00:00Z`, true)}, ${count(density.days_to_expiry)} days · thin: lognormal at the money`
          : ''
      }
      call={call}
      answer={answer}
      problem={asked.problem}
      isSlow={asked.isSlow}
      table={table}
      readout={radar ? densityReadout(radar, pair!) : ''}
      controls={<Setting name="dte" label="Wanted days to expiry" values={DTES} text={(days) => `${days} days`} />}
    >
      {radar && (
        <>
          <DensityChart radar={radar} pair={pair!} onMove={onMove} />
          <DensityFacts radar={radar} pair={pair!} notes={answer!.notes} />
        </>
      )}
    </ChartPanel>
  );
}

/** The cursors that the address has. Without them, the walls. */
function cursorsOf(own: Readonly<Record<string, string>>, radar: Radar): CursorPair {
  const { put_wall, call_wall } = radar.gex_boundaries;
  const at = (text: string | undefined, initial: number) => (Number(text) > 0 ? Number(text) : initial);
  return [at(own.low, put_wall), at(own.high, call_wall)];
}

function DensityFacts({ radar, pair, notes }: { radar: Radar; pair: CursorPair; notes: string }) {
  const { state_density: density, spot_price: spot } = radar;
  const away = (level: number) => `${price(level)}, ${percent(100 * (level / spot - 1), 1)}`;
  return (
    <div class="facts">
      <dl>
        <Fact name="Below, between, above by the lognormal" value={lognormalReadout(radar, pair)} />
        <Fact name="Forward" value={price(density.forward)} />
        <Fact name="Most likely" value={away(density.mode)} />
        <Fact name="Median" value={away((density.quantiles as Readonly<Record<string, number>>).p50!)} />
        <Fact name="Volatility at the money" value={volatility(density.atm_iv, 2)} />
        <Fact name="Expected move" value={`± ${price(density.expected_move)}`} />
        <Fact name="Skewness of the log return" value={plain(density.skewness, 3)} />
        <Fact name="Divergence from the lognormal" value={`${plain(density.lognormal_divergence, 3)} nats`} />
      </dl>
      <p>{fitSentence(density)}</p>
      {notes && <p class="muted">{notes}</p>}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Setting({
  name,
  label,
  values,
  text,
}: {
  name: keyof typeof RADAR_INITIAL;
  label: string;
  values: readonly string[];
  text: (value: string) => string;
}) {
  const initial = RADAR_INITIAL[name];
  const value = page.value.own[name] ?? initial;
  return (
    <label class="choice">
      <span class="spoken">{label}</span>
      <select
        value={value}
        data-own={name}
        onChange={({ currentTarget: { value: to } }) => setOwn(name, to === initial ? null : to)}
      >
        {(values.includes(value) ? values : [value, ...values]).map((each) => (
          <option key={each} value={each}>
            {text(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A part of the whipsaw index: its value, and the figures behind it in words. */
export interface WhipsawPart {
  readonly name: string;
  /** 0 to 100. Null: data are missing. */
  readonly value: number | null;
  readonly why: string;
}

/** Returns the parts of the whipsaw index. */
export function whipsawParts(radar: Radar): WhipsawPart[] {
  const { whipsaw_components: part, whipsaw_inputs: input, realised_volatility: realised, state_density } = radar;
  const moves = input.flip_distance === null ? null : input.flip_distance / input.daily_move;
  return [
    {
      name: 'Nearness of the flip',
      value: part.flip_proximity,
      why:
        moves === null
          ? 'net gamma changes sign nowhere within half of spot'
          : `the flip is ${price(input.flip_distance)} away, ${plain(moves, 2)} daily moves of ${price(input.daily_move)}`,
    },
    {
      name: 'Short gamma',
      value: part.regime,
      why: `net ${amount(1e6 * input.net_gex_mil)} of ${amount(1e6 * input.gross_gex_mil)} gross, $ per 1 % move`,
    },
    {
      name: 'Realised over implied',
      value: part.realised_over_implied,
      why:
        realised === null
          ? 'too few closes are known for 20 daily returns'
          : `realised ${volatility(realised)} over 20 days, implied ${volatility(state_density.atm_iv)}`,
    },
    {
      name: 'Expiring gamma',
      value: part.expiring_gamma,
      why: `${amount(1e6 * input.expiring_gex_mil)} of it settles within a day`,
    },
  ];
}

/** The whipsaw index with its parts. */
export function WhipsawPanel({ asked, call }: RadarProps) {
  const radar = asked.answer?.body;
  const parts = radar ? whipsawParts(radar) : [];
  const index = radar?.whipsaw_risk_index ?? null;
  return (
    <ChartPanel
      id="whipsaw"
      title="Whipsaw risk"
      unit="0 calm to 100, mean of its parts"
      call={call}
      answer={asked.answer}
      problem={asked.problem}
      table={
        radar && { columns: ['part', 'value', 'why'], rows: parts.map((each) => [each.name, each.value, each.why]) }
      }
    >
      {radar && (
        <div class="parts" data-whipsaw={index ?? 'unknown'}>
          <strong>{index === null ? UNKNOWN : count(index)}</strong>
          <ul>
            {parts.map(({ name, value, why }) => (
              <Part key={name} name={name} value={value} text={count(value)} why={why} />
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
      <span class="part-bar" aria-hidden="true">
        <i style={{ width: `${Math.min(100, value ?? 0)}%` }} />
      </span>
      {why && <span class="muted">{value === null ? `not counted: ${why}` : why}</span>}
    </li>
  );
}

/** How much of the gamma lies on few strikes. */
export function ConcentrationPanel({ asked, call }: RadarProps) {
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
      call={call}
      answer={asked.answer}
      problem={asked.problem}
      table={table}
      controls={<Setting name="limit" label="Number of strikes" values={LIMITS} text={(limit) => `${limit} strikes`} />}
    >
      {radar && (
        <div class="parts">
          <p>
            The five largest strikes have {percent(radar.institutional_concentration_pct, 1, false)} of the gamma of{' '}
            {cleanText(radar.state_density.expiry)}, and{' '}
            {percent(radar.institutional_concentration_all_expiries_pct, 1, false)} over all expiries (
            {radar.concentrated_strikes_all_expiries.strike.map((at) => strike(at)).join(', ')}).
          </p>
          <ul class="short">
            {strikes!.strike.map((at, i) => {
              const level = names.get(at);
              const share = strikes!.share_pct[i]!;
              return (
                <Part
                  key={at}
                  name={level ? `${strike(at)} ${level}` : strike(at)}
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
