import { bisectCenter } from 'd3-array';
import { useMemo, useState } from 'preact/hooks';
import { expiryDay, expiryLabels, maturityAxis } from '../../chart/chart-axis.ts';
import { CursorFrame, SeriesPlot } from '../../chart/series-chart.tsx';
import { fittedSmile, SmileChart, SmileMultiples, type SmileMultiplesProps, smileReadout } from '../../chart/smile.tsx';
import { daysText, SeriesWithoutSmile } from '../../chart/term-structure.tsx';
import { type Surface, useAnswer } from '../../data/page-answers.ts';
import { FigureTable } from '../../grid/figure-table.tsx';
import { newYorkMoment, percent, plain, price, volatility, volatilityPoints } from '../../page-format.ts';
import { ChartPanel, ViewState } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { page, setOwn, tickerCall } from '../../state/page.ts';
import { asOf, gexView } from '../../state/page-market.ts';
import { columnTable } from '../../state/panels.ts';
import { DAY_LENGTH_MS } from '../../time/exchange-days.ts';

/** The view initially shows the settlement that is closest to this number of days. */
const FIRST_SMILE = 30;
/** Number of settlements whose smiles can be beside the chosen one. */
const BESIDE = 3;

/** Renders the Surface view: smiles, the term structure of volatility, and events. */
export function SurfaceView() {
  const moment = asOf.value;
  const { settlement: wanted = '' } = page.value.own;
  const call = tickerCall('get_volatility_surface', moment, {
    detail: 'smiles',
    quotes_days: Math.max(0, (Date.parse(wanted) - Date.parse(moment ?? '')) / DAY_LENGTH_MS) || FIRST_SMILE,
  });
  const asked = useAnswer<Surface>(moment === undefined ? undefined : call);
  const surface = asked.answer?.body;
  const settlements = surface?.expiries.settles_at ?? [];
  const chosen = settlements.indexOf(wanted);
  const first = surface ? bisectCenter(surface.expiries.tte, FIRST_SMILE / 365) : 0;
  const settlement = chosen >= 0 ? chosen : first;
  const smile = useMemo(() => surface && fittedSmile(surface, settlement), [surface, settlement]);
  const tables = useMemo(
    () => surface && smile && { smile: columnTable({ ...smile }), maturities: columnTable(surface.maturities) },
    [surface, smile],
  );
  const [at, setAt] = useState<number | null>(null);
  const { pinned, isDiff, own } = page.value;
  const earlier = useAnswer<Surface>(
    isDiff && pinned !== null ? { ...call, args: { ...call.args, at: pinned } } : undefined,
  );
  const others = useMemo(() => {
    if (!surface) return [];
    const count = own.beside === undefined ? 0 : BESIDE;
    const start = Math.min(settlement + 1, Math.max(0, settlements.length - count));
    const beside = settlements
      .map((_, i) => i)
      .slice(start, start + count)
      .filter((i) => i !== settlement);
    const names = expiryLabels(surface.expiries.expiry, moment);
    const before = earlier.answer?.body;
    const then = before ? before.expiries.settles_at.indexOf(settlements[settlement]!) : -1;
    return [
      ...(before && then >= 0
        ? [{ name: `at A, ${newYorkMoment(pinned)}`, isBefore: true, ...fittedSmile(before, then) }]
        : []),
      ...beside.map((i) => ({ name: names[i]!, isBefore: false, ...fittedSmile(surface, i) })),
    ];
  }, [surface, earlier.answer, settlement, own.beside]);
  if (!surface || !smile) return <ViewState asked={moment === undefined ? gexView.asked.value : asked} />;
  const { expiries } = surface;
  const select = (i: number) => setOwn('settlement', settlements[i]!);
  const shared = { call, answer: asked.answer!, isSlow: asked.isSlow };
  const then = earlier.answer?.body.maturities;
  return (
    <div class="surface-view">
      <ChartPanel
        {...shared}
        id="smile"
        class="smile-panel"
        title="Smile"
        unit="fitted volatility by strike, per calendar year"
        table={tables?.smile}
        readout={
          at === null
            ? fitText(expiries, settlement)
            : smileReadout(
                smile,
                at,
                others.find((each) => each.isBefore),
              )
        }
        controls={
          <>
            <OwnSelect
              name="beside"
              label="Other expiries"
              values={['alone', 'next']}
              initial="alone"
              text={(value) => (value === 'alone' ? 'alone' : `with the next ${BESIDE}`)}
            />
            <OwnSelect
              name="settlement"
              label="Settlement"
              values={settlements}
              initial={settlements[first]!}
              text={(value) => {
                const i = settlements.indexOf(value);
                return i < 0
                  ? value
                  : `${expiryDay(expiries.expiry[i]!, moment)} ${expiries.series[i]} (${daysText(expiries.tte[i]!)})`;
              }}
            />
          </>
        }
      >
        <SmileChart
          surface={surface}
          settlement={settlement}
          smile={smile}
          others={others}
          cursor={at}
          onCursor={setAt}
        />
      </ChartPanel>
      <SurfaceTerm
        {...shared}
        surface={surface}
        before={earlier.answer?.body}
        settlement={settlement}
        moment={moment}
        onSelect={select}
      />
      <ChartPanel
        {...shared}
        id="maturities"
        class="maturities-panel grid-panel"
        title="Constant maturities"
        unit="per calendar year; forward per year of trading time"
        table={tables?.maturities}
        readout={sourceText(surface)}
      >
        <FigureTable
          label="Figures at constant maturities"
          head={[
            'Days',
            'At the money',
            ...(then ? ['Change'] : []),
            'Band',
            ...MATURITY_FIGURES.map(([, title]) => title),
          ]}
          rows={surface.maturities.days.map((days, i) => [
            String(days),
            volatility(surface.maturities.atm_iv[i]),
            ...(then
              ? [volatilityPoints(difference(surface.maturities.atm_iv[i], then.atm_iv[then.days.indexOf(days)]))]
              : []),
            `±${volatility(surface.maturities.atm_iv_band[i], 2)}`,
            ...MATURITY_FIGURES.map(([name, , print]) => print(surface.maturities[name][i] ?? null)),
          ])}
        />
      </ChartPanel>
      <Events {...shared} surface={surface} />
      <SmileMultiples surface={surface} moment={moment} settlement={settlement} onSelect={select} />
    </div>
  );
}

/** Returns the change of a figure. Null if it is unknown at one of the moments. */
function difference(now: number | null | undefined, then: number | null | undefined): number | null {
  return now == null || then == null ? null : now - then;
}

const MATURITY_FIGURES = [
  ['forward_iv_trading', 'Forward', volatility],
  ['put_25d_iv', 'Put 25Δ', volatility],
  ['call_25d_iv', 'Call 25Δ', volatility],
  ['skew_25d', 'Skew', volatilityPoints],
  ['convexity_25d', 'Convexity', volatilityPoints],
  ['variance_swap_iv', 'Variance swap', volatility],
  ['skewness', 'Skewness', price],
  ['kurtosis', 'Kurtosis', price],
] as const;

/** Returns a text on how well the fitted price distribution matches the quotes of a settlement. */
function fitText({ quotes, outside_band, fit_error }: Surface['expiries'], i: number): string {
  return `${quotes[i]} quotes, ${outside_band[i]} of them fitted outside bid and ask · fit error ${plain(fit_error[i], 2)} half-widths`;
}

/** Returns a text on the data for the fit, and on the clock by which variance accrues. */
function sourceText({ fitted_to, clock, night_weight, night_weight_dates, shut_day_weight }: Surface): string {
  const dates = night_weight_dates > 0 ? `fitted to ${night_weight_dates} dates` : 'by default';
  return (
    `Fitted to ${fitted_to === 'quotes' ? 'quotes' : 'the volatilities of the feed, for lack of quotes'} · ` +
    (clock === 'calendar'
      ? 'variance accrues evenly in calendar time'
      : `trading time: a night counts ${plain(night_weight, 2)} (${dates}), a day of a weekend ${plain(shut_day_weight, 2)} of a session`)
  );
}

interface SurfacePartProps extends Pick<Parameters<typeof ChartPanel>[0], 'call' | 'answer' | 'isSlow'> {
  readonly surface: Surface;
}

interface SurfaceTermProps extends SurfacePartProps, SmileMultiplesProps {
  /** The surface at moment A of a comparison. */
  readonly before: Surface | undefined;
}

/** In which time variance accrues on the chart of the term structure. */
const CLOCKS = { calendar: 'calendar time', trading: 'trading time' } as const;

/**
 * Returns the factors that convert volatilities per year of trading time to the time of the chart: of the volatilities from now to each
 * settlement, and of the forward volatilities between settlements.
 */
export function clockFactors(tte: readonly number[], years: readonly number[], isTrading: boolean) {
  const factor = (trading: number, calendar: number) =>
    isTrading || calendar <= 0 ? 1 : Math.sqrt(trading / calendar);
  return {
    whole: tte.map((each, i) => factor(years[i]!, each)),
    between: tte.map((each, i) => factor(years[i]! - (years[i - 1] ?? 0), each - (tte[i - 1] ?? 0))),
  };
}

/** Renders two plots: at-the-money volatility with the forward volatilities between settlements, and skew and convexity. */
function SurfaceTerm({ surface, before, settlement, moment, onSelect, ...shared }: SurfaceTermProps) {
  const [cursor, setCursor] = useState<number | null>(null);
  const { expiries, events } = surface;
  const { tte, trading_years: years, settles_at, skew_25d: skew } = expiries;
  const isTrading = page.value.own.clock === 'trading';
  const { whole, between } = clockFactors(tte, years, isTrading);
  const scaled = (values: readonly (number | null)[], factors: readonly number[]) =>
    values.map((value, i) => value && value * factors[i]!);
  const atm = scaled(expiries.atm_iv_trading, whole);
  const at = cursor !== null && cursor < expiries.count ? cursor : null;
  const band = (values: readonly (number | null)[], widths: readonly (number | null)[], sign: 1 | -1) =>
    values.map((value, i) => (value === null || widths[i] == null ? null : value + sign * widths[i]));
  // The answer has the band per calendar year.
  const widths = expiries.atm_iv_band.map((each, i) => each && each * whole[i]! * Math.sqrt(tte[i]! / years[i]!));
  const was = before && settles_at.map((each) => before.expiries.settles_at.indexOf(each));
  const earlier = (values: readonly (number | null)[]) => was!.map((i) => values[i] ?? null);
  const timeOf = (instant: string) => tte[settles_at.indexOf(instant)] ?? 0;
  const plot = {
    x: tte,
    axis: maturityAxis(tte, expiryLabels(expiries.expiry, moment)),
    marker: { at: tte[settlement]! },
    cursor: at,
    onCursor: setCursor,
    onOpen: onSelect,
  };
  return (
    <ChartPanel
      {...shared}
      id="surface-term"
      class="term-panel beside"
      title="Term structure"
      unit={isTrading ? 'per year of trading time' : 'per calendar year'}
      table={useMemo(() => columnTable(expiries), [expiries])}
      readout={
        at === null ? 'Enter, or a double click, shows the smile of a settlement.' : termReadout(surface, at, moment)
      }
      controls={
        <OwnSelect
          name="clock"
          label="Time"
          values={Object.keys(CLOCKS)}
          initial="calendar"
          text={(value) => CLOCKS[value as keyof typeof CLOCKS] ?? value}
        />
      }
    >
      <CursorFrame
        id="surface-term"
        label={`Volatility at the money of ${expiries.count} settlements, from ${volatility(atm[0])} to ${volatility(atm.at(-1))} per year of ${isTrading ? CLOCKS.trading : CLOCKS.calendar}; ${events.count} events. Arrow keys move from settlement to settlement.`}
        count={expiries.count}
        cursor={at}
        onCursor={setCursor}
        onOpen={onSelect}
        readout={(i) => termReadout(surface, i, moment)}
      >
        <SeriesPlot
          {...plot}
          hasLabels={false}
          spans={events.after.map((after, i) => [timeOf(after), timeOf(events.before[i]!)])}
          format={(value) => volatility(value)}
          series={[
            was &&
              !isTrading && {
                name: 'was, same expiry',
                mark: 'line',
                class: 'before',
                y: earlier(before.expiries.atm_iv),
              },
            { name: 'at the money', mark: 'line', y: atm },
            {
              name: 'bid to ask',
              mark: 'ranges',
              class: 'faint',
              y: band(atm, widths, 1),
              from: band(atm, widths, -1),
            },
            { name: 'forward', mark: 'steps', class: 'series-3', y: scaled(expiries.forward_iv_trading, between) },
            events.count > 0 && {
              name: 'without events (shaded)',
              mark: 'line',
              class: 'series-2',
              y: scaled(expiries.atm_iv_trading_without_events, whole),
            },
          ]}
        />
        <SeriesPlot
          {...plot}
          hasZero
          format={(value) => percent(100 * value, 1, false)}
          series={[
            was && { name: 'was', mark: 'line', class: 'before', y: earlier(before.expiries.skew_25d) },
            { name: 'skew: 25-delta put less call', mark: 'line', y: skew },
            {
              name: 'its band',
              mark: 'ranges',
              class: 'faint',
              y: band(skew, expiries.skew_25d_band, 1),
              from: band(skew, expiries.skew_25d_band, -1),
            },
            { name: 'convexity', mark: 'line', class: 'series-2', y: expiries.convexity_25d },
          ]}
        />
      </CursorFrame>
    </ChartPanel>
  );
}

/** Returns the figures of a settlement as text, for the panel and for screen readers. */
function termReadout({ expiries }: Surface, i: number, moment: string | undefined): string {
  return [
    `${expiryDay(expiries.expiry[i]!, moment)} ${expiries.series[i]} (${daysText(expiries.tte[i]!)})`,
    `ATM ${volatility(expiries.atm_iv[i])} ± ${volatility(expiries.atm_iv_band[i], 2)} (trading time ${volatility(expiries.atm_iv_trading[i])}, forward ${volatility(expiries.forward_iv_trading[i])})`,
    `skew ${volatilityPoints(expiries.skew_25d[i])} ± ${volatility(expiries.skew_25d_band[i], 2)}`,
    `convexity ${volatilityPoints(expiries.convexity_25d[i])}`,
  ].join(' · ');
}

/** Renders the events that the term structure implies, and the series without a fitted smile. */
function Events({ surface: { events, refused }, ...shared }: SurfacePartProps) {
  return (
    <ChartPanel
      {...shared}
      id="events"
      class="events-panel grid-panel"
      title="Events"
      table={useMemo(() => columnTable(events), [events])}
    >
      {events.count === 0 ? (
        <p class="empty">No event: volatility rises between no two settlements faster than before and after them.</p>
      ) : (
        <FigureTable
          label="Events"
          head={['After', 'Before', 'Implied move', 'Band', 'Error', 'Expected size']}
          rows={events.after.map((after, i) => [
            newYorkMoment(after),
            newYorkMoment(events.before[i]),
            ...[events.implied_move, events.implied_move_band, events.implied_move_error].map(
              (column) => `±${volatility(column[i], 2)}`,
            ),
            volatility(events.expected_absolute_move[i], 2),
          ])}
        />
      )}
      <SeriesWithoutSmile series={refused.series.map((series, i) => [series, refused.reason[i]!])} />
    </ChartPanel>
  );
}
