import { useMemo } from 'preact/hooks';
import { type EtfContagion, type GexView, useAnswer, type WhalePrints } from '../data/answers.ts';
import { amount, change, cleanText, count, newYorkDay, percent, plain, UNKNOWN, volatility } from '../format.ts';
import { asOf } from '../state/market.ts';
import { navigate, page, setOwn, tickerCall } from '../state/page.ts';
import { stops } from '../state/time-stops.ts';
import { ChartPanel, Problem } from './chart-panel.tsx';

const dayOf = (expiry: string) => newYorkDay(`${expiry}T17:00:00Z`, true);

/** The large prints of one expiry and what they sum to, and whether the flow spills into the sector ETF. */
export function LargePrints({ view }: { view: GexView }) {
  const { own, ticker } = page.value;
  const moment = asOf.value;
  const listed = [...new Set(view.expiries.expiry)];
  const { whale_expiry, expiry: dominant } = view.levels;
  const target = own.target ?? [whale_expiry, dominant].find((each) => listed.includes(each)) ?? listed[0];
  const call = useMemo(
    () =>
      moment === undefined || target === undefined
        ? undefined
        : tickerCall('get_whale_prints', moment, { target_expiry: target }),
    [moment, target, ticker],
  );
  const asked = useAnswer<WhalePrints>(call);
  const body = asked.answer?.body;
  return (
    <div class="large-prints">
      <ChartPanel
        id="large-prints"
        title="Large prints of an expiry"
        unit="premium, $"
        call={call}
        answer={asked.answer}
        problem={asked.problem}
        isSlow={asked.isSlow}
        table={body && largePrintsTable(body)}
        controls={
          <label class="choice">
            <span class="spoken">Expiry</span>
            <select value={target} data-own="target" onChange={(event) => setOwn('target', event.currentTarget.value)}>
              {(target === undefined || listed.includes(target) ? listed : [target, ...listed]).map((each) => (
                <option key={each} value={each}>
                  {dayOf(each)}
                </option>
              ))}
            </select>
          </label>
        }
      >
        {body && <Sums body={body} />}
      </ChartPanel>
      <Spill view={view} net={body?.net_fiat_exposure} />
    </div>
  );
}

function Sums({ body }: { body: WhalePrints }) {
  const { by_side: side, call_fiat_paid, put_fiat_paid, net_fiat_exposure: net } = body;
  const most = Math.max(call_fiat_paid, put_fiat_paid, 1);
  const row = (name: string, tone: string, all: number, ask: number | undefined, bid: number | undefined) => (
    <tr>
      <th scope="row">{name}</th>
      <td>
        {amount(all)}
        <i class={`sum-bar ${tone}`} style={{ width: `${(100 * all) / most}%` }} />
      </td>
      <td class={ask ? 'positive' : ''}>{amount(ask)}</td>
      <td class={bid ? 'negative' : ''}>{amount(bid)}</td>
    </tr>
  );
  const what =
    body.flow_from === 'prints' ? `prints from ${amount(body.min_premium)}` : 'contracts with volume (at their mid)';
  return (
    <div class="sums" data-expiry={body.target_expiry}>
      <p>
        {body.counted === 0
          ? `In ${body.window_days} days there were no ${what} of ${dayOf(body.target_expiry)}.`
          : `In ${body.window_days} days ${count(body.counted)} ${what} of ${dayOf(body.target_expiry)} sum to ${change(net)} dollars, calls less puts, and ${change(body.net_volume_delta)} contracts.`}
      </p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">Premium</th>
            <th scope="col">At the ask</th>
            <th scope="col">At the bid</th>
          </tr>
        </thead>
        <tbody>
          {row('Calls', 'solid', call_fiat_paid, side?.call_at_ask, side?.call_at_bid)}
          {row('Puts', 'hatched', put_fiat_paid, side?.put_at_ask, side?.put_at_bid)}
        </tbody>
      </table>
      <p class="muted">
        {side ? `Side unknown: ${amount(side.unknown)}. ` : 'The side is unknown: the ticker has no prints. '}
        {percent(body.deep_premium_pct, 1, false)} of the premium is deep (|delta| above 0.9) and mostly expresses no
        view.{' '}
        {body.flow_from === 'prints' && body.counted > 0 && (
          <button
            type="button"
            onClick={() =>
              navigate({
                own: {
                  ...page.value.own,
                  by: 'expiry',
                  pick: body.target_expiry,
                  days: String(body.window_days),
                  premium: String(body.min_premium),
                },
              })
            }
          >
            List them in the tape
          </button>
        )}
      </p>
    </div>
  );
}

function largePrintsTable(body: WhalePrints) {
  const side = body.by_side;
  return {
    columns: ['side', 'premium', 'at_ask', 'at_bid'],
    rows: [
      ['calls', body.call_fiat_paid, side?.call_at_ask ?? null, side?.call_at_bid ?? null],
      ['puts', body.put_fiat_paid, side?.put_at_ask ?? null, side?.put_at_bid ?? null],
    ],
  };
}

/** One requirement of a spill: whether it is met, in words. */
export interface Requirement {
  readonly isMet: boolean;
  readonly text: string;
}

/** Returns the requirements of a spill into the sector ETF. */
export function spillRequirements(body: EtfContagion, iv: number, ceiling: number, flow: number): Requirement[] {
  const { correlation, correlation_min: least } = body;
  return [
    {
      isMet: body.saturated,
      text: `volatility ${volatility(iv, 2)} is ${body.saturated ? 'at or above' : 'below'} the ceiling of ${volatility(ceiling, 2)}`,
    },
    {
      isMet: body.large_flow,
      text: `flow of ${amount(Math.abs(flow))} ${body.large_flow ? 'reaches' : 'is below'} the threshold of ${amount(body.flow_threshold)}`,
    },
    {
      isMet: correlation === null || correlation >= least,
      text:
        correlation === null
          ? 'correlation with the ETF is unknown (fewer than 60 common closes), so it is not required'
          : `correlation of ${plain(correlation, 2)} with the ETF ${correlation >= least ? 'reaches' : 'is below'} ${plain(least, 2)}`,
    },
  ];
}

/** Returns what the answer says, in one sentence. */
export function spillSentence(ticker: string, { proxy, etf_proxy }: EtfContagion): string {
  if (proxy === null) return `The universe names no sector ETF for ${ticker}, so its flow spills nowhere.`;
  return etf_proxy === null
    ? `The flow of ${ticker} does not spill into ${cleanText(proxy)}:`
    : `The flow of ${ticker} spills into ${cleanText(etf_proxy)}:`;
}

/** The settings of a spill in the address. Volatilities are in percent. */
const FIELDS = [
  ['fiat', 'Large flow, $'],
  ['iv', 'Volatility now, %'],
  ['ceiling', 'Volatility ceiling, %'],
] as const;

function Spill({ view, net }: { view: GexView; net: number | undefined }) {
  const { own, ticker } = page.value;
  const moment = asOf.value;
  const history = stops.asked.value.answer?.body;
  const { atm_iv, tte } = view.expiries;
  const nearest = nearestOf(tte, 30 / 365.25);
  const now = atm_iv[nearest] ?? null;
  const high = history?.iv_high == null ? null : Math.max(history.iv_high, now ?? 0);
  const shown: Readonly<Record<string, string>> = {
    fiat: own.fiat ?? (net === undefined ? '' : String(Math.round(net))),
    iv: own.iv ?? inPercent(now),
    ceiling: own.ceiling ?? inPercent(high ?? now),
  };
  const [fiat, iv, ceiling] = [Number(shown.fiat), Number(shown.iv) / 100, Number(shown.ceiling) / 100];
  const isWhole = shown.fiat !== '' && Number.isFinite(fiat) && iv > 0 && ceiling > 0;
  const call = useMemo(() => {
    if (moment === undefined || !isWhole) return undefined;
    const args = { single_name_ticker: ticker, whale_fiat: fiat, current_iv: iv, iv_ceiling: ceiling, at: moment };
    return { operation: 'evaluate_etf_contagion' as const, args };
  }, [moment, ticker, isWhole, fiat, iv, ceiling]);
  const asked = useAnswer<EtfContagion>(call);
  // The call names the ticker by another argument than other calls.
  const answer = asked.answer?.call.args.single_name_ticker === ticker ? asked.answer : undefined;
  const body = answer?.body;
  const isOwn = FIELDS.some(([name]) => own[name] !== undefined);
  const source =
    history && high !== null
      ? `the highest 30-day volatility of ${count(history.iv_days)} ${history.iv_days === 1 ? 'day' : 'days'} kept`
      : 'the present volatility, as no earlier one is kept';
  return (
    <ChartPanel
      id="spill"
      title="Spill into the sector ETF"
      call={call}
      answer={answer}
      isSlow={asked.isSlow}
      controls={
        isOwn && (
          <button
            type="button"
            onClick={() => {
              const { fiat: _f, iv: _i, ceiling: _c, ...rest } = page.value.own;
              navigate({ own: rest });
            }}
          >
            Use the page’s values
          </button>
        )
      }
    >
      <div class="spill" data-proxy={body ? (body.etf_proxy ?? 'none') : undefined}>
        <div class="fields">
          {FIELDS.map(([name, label]) => (
            <label key={name}>
              {label}
              <input
                type="text"
                inputMode="decimal"
                value={shown[name]}
                data-own={name}
                onChange={(event) => setOwn(name, event.currentTarget.value.trim().replace('−', '-') || null)}
              />
            </label>
          ))}
        </div>
        {!isWhole && (
          <p class="muted">{net === undefined ? '' : `${UNKNOWN} All three must be numbers, volatilities above 0.`}</p>
        )}
        {asked.problem && <Problem problem={asked.problem} />}
        {body && (
          <>
            <p>
              <strong>{spillSentence(ticker, body)}</strong>
            </p>
            {body.proxy !== null && (
              <ul>
                {spillRequirements(body, iv, ceiling, fiat).map(({ isMet, text }) => (
                  <li key={text}>
                    {isMet ? '✓' : '✕'} {text}
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
        <p class="muted">
          The flow is that of the large prints above. The ceiling is {source}
          {isOwn ? ', unless you typed another' : ''}.
        </p>
      </div>
    </ChartPanel>
  );
}

function nearestOf(values: readonly number[], wanted: number): number {
  let best = 0;
  for (let i = 1; i < values.length; i++)
    if (Math.abs(values[i]! - wanted) < Math.abs(values[best]! - wanted)) best = i;
  return best;
}

function inPercent(value: number | null): string {
  return value === null ? '' : String(Number((100 * value).toFixed(2)));
}
