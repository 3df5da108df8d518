import { joinRows, seriesKeys } from '../data/joined-rows.ts';
import type { Expiries } from '../data/page-answers.ts';
import { countText, percent, price, signedAmount, strikeText, volatility } from '../page-format.ts';
import { expiryDay, expiryLabels, maturityAxis } from './chart-axis.ts';
import { CursorFrame, SeriesPlot, type SeriesPlotProps } from './series-chart.tsx';

export interface TermStructureProps extends Pick<SeriesPlotProps, 'cursor' | 'onCursor'> {
  readonly expiries: Expiries;
  /** The expiries at the earlier moment of a comparison. */
  readonly before?: Expiries | undefined;
  /** The moment of the quotes, ISO 8601. */
  readonly moment: string | undefined;
  /** The expiry to which the member has restricted the page, if any. */
  readonly chosen: string | undefined;
  /** Called when the member chooses an expiry, `YYYY-MM-DD`. */
  onPick(expiry: string): void;
}

/** Renders three plots over the time to settlement: at-the-money volatility, expected move, and share of gross gamma. */
export function TermStructure({ expiries, before, moment, chosen, cursor, onCursor, onPick }: TermStructureProps) {
  const { tte, expiry, settlement, atm_iv: iv, spot_price: spot, forward, expected_move: move } = expiries;
  const of = (kind: string) => iv.map((each, i) => (settlement[i] === kind ? each : null));
  const hasBoth = settlement.includes('AM') && settlement.includes('PM');
  const chosenAt = tte[expiry.indexOf(chosen ?? '')];
  const readout = (i: number) => expiryReadout(expiries, i, moment);
  const shared = {
    x: tte,
    axis: maturityAxis(tte, expiryLabels(expiry, moment)),
    cursor,
    onCursor,
    onOpen: (i: number) => onPick(expiry[i]!),
    marker: chosenAt === undefined ? undefined : { at: chosenAt },
  };
  return (
    <CursorFrame
      id="term"
      label={`${describeTerm(expiries, moment)} Arrow keys move from expiry to expiry, Enter picks it.`}
      count={expiries.count}
      cursor={cursor}
      onCursor={onCursor}
      onOpen={shared.onOpen}
      readout={readout}
    >
      <SeriesPlot
        {...shared}
        hasLabels={false}
        format={(value) => volatility(value)}
        series={[
          before && { name: 'was, same expiry', mark: 'line', class: 'before', y: earlierIv(expiries, before) },
          { name: 'bid to ask', mark: 'ranges', class: 'faint', y: expiries.atm_iv_ask, from: expiries.atm_iv_bid },
          { name: `volatility at the money${hasBoth ? ', PM' : ''}`, mark: 'dots', y: hasBoth ? of('PM') : iv },
          hasBoth && { name: 'AM', mark: 'diamonds', y: of('AM') },
        ]}
      />
      <SeriesPlot
        {...shared}
        hasLabels={false}
        format={strikeText}
        rule={{ at: spot, name: `spot ${price(spot)}` }}
        series={[
          {
            name: 'forward ± expected move (one standard deviation)',
            mark: 'ranges',
            y: move.map((each, i) => (each === null ? null : forward[i]! + each)),
            from: move.map((each, i) => (each === null ? null : forward[i]! - each)),
          },
        ]}
      />
      <SeriesPlot
        {...shared}
        format={(value) => percent(value, 0, false)}
        hasZero
        series={[
          { name: 'share of gross gamma', mark: 'bars', y: expiries.gross_share_pct },
          { name: 'expired by then', mark: 'steps', class: 'series-2', y: expiries.expired_share_pct },
        ]}
      />
    </CursorFrame>
  );
}

/** Returns the volatility at the money that each series had at the earlier moment. Null for a new series. */
export function earlierIv(now: Expiries, before: Expiries): (number | null)[] {
  return joinRows(seriesKeys(now), seriesKeys(before))
    .filter((row) => row.now !== undefined)
    .map((row) => before.atm_iv[row.before ?? -1] ?? null);
}

/** Returns the figures of a series as text, for the panel and for screen readers. */
export function expiryReadout(expiries: Expiries, i: number, moment: string | undefined): string {
  const { smile_refused, atm_iv_bid, atm_iv_ask, expected_move, spot_price } = expiries;
  const refused = smile_refused[i];
  return [
    `${expiryDay(expiries.expiry[i]!, moment)} ${expiries.root[i]} ${expiries.settlement[i]} (${daysText(expiries.tte[i]!)})`,
    ...(refused ? [`no smile: ${refusalText(refused)}`] : []),
    ...(expiries.atm_iv[i] === null
      ? []
      : [
          `ATM ${volatility(expiries.atm_iv[i])} (${volatility(atm_iv_bid[i])} to ${volatility(atm_iv_ask[i])})`,
          `move ±${price(expected_move[i])} (${percent((100 * (expected_move[i] ?? Number.NaN)) / spot_price, 1, false)})`,
        ]),
    `net GEX ${signedAmount(expiries.net_gex[i])}`,
    `${percent(expiries.gross_share_pct[i], 1, false)} of gross, ${percent(expiries.expired_share_pct[i], 1, false)} by then`,
  ].join(' · ');
}

/** Returns the time to a settlement as text. Times below 30 days have one decimal (`21.8 d`). Other times are whole numbers of days. */
export function daysText(years: number): string {
  const days = years * 365;
  return `${days < 30 ? days.toFixed(1) : countText(days)} d`;
}

const REFUSALS: Readonly<Record<string, string>> = {
  no_volatility: 'no volatility',
  too_few_strikes: 'fewer than five usable quotes out of the money',
  one_sided: 'fewer than two usable quotes on one side of the forward',
};

/** Returns the reason why a series has no smile, as text. */
export function refusalText(reason: string): string {
  return REFUSALS[reason] ?? reason.replaceAll('_', ' ');
}

/** Renders the list of series without a smile, each with its reason. The charts of volatilities cannot show these series. */
export function SeriesWithoutSmile({ series }: { series: readonly (readonly [name: string, reason: string])[] }) {
  if (series.length === 0) return null;
  return (
    <div class="inset muted" data-refused>
      <h3>Without a smile ({series.length})</h3>
      <ul>
        {series.map(([name, reason]) => (
          <li key={name}>
            {name}: {refusalText(reason)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Returns one sentence with the main figures of the term structure, for screen readers. */
export function describeTerm(expiries: Expiries, moment: string | undefined): string {
  const { expiry, atm_iv: iv, gross_share_pct: share, count: rows } = expiries;
  const known = iv.flatMap((each, i) => (each === null ? [] : [i]));
  const [first, last] = [known[0], known.at(-1)];
  const largest = share.indexOf(Math.max(...share));
  const at = (i: number) => `${volatility(iv[i])} on ${expiryDay(expiry[i]!, moment)}`;
  return (
    `${rows} expiries. Volatility at the money ` +
    `${first === undefined ? 'is unknown' : first === last ? at(first) : `from ${at(first)} to ${at(last!)}`}. ` +
    `${rows > 0 ? `Most gross gamma, ${percent(share[largest], 0, false)}, expires on ${expiryDay(expiry[largest]!, moment)}.` : ''}`
  );
}
