import { minIndex } from 'd3-array';
import { type EtfContagion, type GexView, useAnswer, type WhalePrints } from '../../data/page-answers.ts';
import type { Call } from '../../operations.ts';
import {
  amount,
  cleanText,
  counted,
  countText,
  newYorkDay,
  percent,
  signedAmount,
  UNKNOWN,
} from '../../page-format.ts';
import { ChartPanel, Problem } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { navigate, page, setOwn } from '../../state/page.ts';
import { asOf, useTickerAnswer } from '../../state/page-market.ts';
import { stops } from '../../state/time-stops.ts';
import { spillRequirements, spillSentence } from './spill-text.ts';

const dayOf = (expiry: string) => newYorkDay(expiry, true);

/** Renders the large prints of one expiry, their sums, and whether the flow spills into the sector ETF. */
export function LargePrints({ view }: { view: GexView }) {
  const { own } = page.value;
  const listed = [...new Set(view.expiries.expiry.map((each) => cleanText(each)))];
  const { whale_expiry, expiry: dominant } = view.levels;
  const initial =
    [whale_expiry, dominant].map((each) => cleanText(each)).find((each) => listed.includes(each)) ?? listed[0];
  // The expiry in the address may belong to another ticker. If the page's ticker does not have this expiry, the view uses the initial
  // expiry.
  const target = own.target && listed.includes(own.target) ? own.target : initial;
  const asked = useTickerAnswer<WhalePrints>(
    'get_whale_prints',
    target === undefined ? undefined : { target_expiry: target },
  );
  const body = asked.answer?.body;
  return (
    <div class="large-prints beside">
      <ChartPanel
        id="large-prints"
        title="Large prints of an expiry"
        unit="premium, $"
        {...asked}
        table={body && largePrintsTable(body)}
        controls={
          target !== undefined && (
            <OwnSelect name="target" label="Expiry" values={listed} initial={initial!} text={dayOf} />
          )
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
    <div class="stack inset" data-expiry={cleanText(body.target_expiry)}>
      <p>
        {body.counted === 0
          ? `In ${body.window_days} days there were no ${what} of ${dayOf(body.target_expiry)}.`
          : `In ${body.window_days} days ${countText(body.counted)} ${what} of ${dayOf(body.target_expiry)} sum to ${signedAmount(net)} dollars, calls less puts, and ${signedAmount(body.net_volume_delta)} contracts.`}
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
                  pick: `expiry:${cleanText(body.target_expiry)}`,
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

/** The labels of the input fields for the spill. The volatilities in the fields are in percent. */
const FIELDS = ['Large flow, $', 'Volatility now, %', 'Volatility ceiling, %'] as const;

function Spill({ view, net }: { view: GexView; net: number | undefined }) {
  const { own, ticker } = page.value;
  const moment = asOf.value;
  const history = stops.asked.value.answer?.body;
  const { atm_iv, tte } = view.expiries;
  const now = atm_iv[minIndex(tte, (each) => Math.abs(each - 30 / 365.25))] ?? null;
  const high = history?.iv_high == null ? null : Math.max(history.iv_high, now ?? 0);
  // The inputs that the member has typed for this ticker, such as `NVDA:25000000:62:55`. If an input is empty, the value from the page is
  // used.
  const [of, ...typed] = own.spill?.split(':') ?? [];
  const mine = FIELDS.map((_, i) => (of === ticker && typed[i]) || '');
  const isOwn = mine.some(Boolean);
  const pages = [net === undefined ? '' : String(Math.round(net)), inPercent(now), inPercent(high ?? now)];
  const shown = mine.map((text, i) => text || pages[i]!);
  const [fiat, iv, ceiling] = [Number(shown[0]), Number(shown[1]) / 100, Number(shown[2]) / 100];
  const isWhole = shown[0] !== '' && Number.isFinite(fiat) && iv > 0 && ceiling > 0;
  const args = { single_name_ticker: ticker, whale_fiat: fiat, current_iv: iv, iv_ceiling: ceiling };
  const call: Call | undefined =
    moment === undefined || !isWhole
      ? undefined
      : { operation: 'evaluate_etf_contagion', args: { ...args, at: moment } };
  const asked = useAnswer<EtfContagion>(call);
  // The component itself checks the ticker of the answer, because this call names the ticker in the argument `single_name_ticker`, not
  // `ticker`.
  const answer = asked.answer?.call.args.single_name_ticker === ticker ? asked.answer : undefined;
  const body = answer?.body;
  const source =
    history && high !== null
      ? `the highest 30-day volatility of ${counted(history.iv_days, 'day')} kept`
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
          <button type="button" onClick={() => setOwn('spill', null)}>
            Use the page’s values
          </button>
        )
      }
    >
      <div class="spill stack inset" data-proxy={body ? (body.etf_proxy ?? 'none') : undefined}>
        <div class="fields">
          {FIELDS.map((label, i) => (
            <label key={label}>
              {label}
              <input
                type="text"
                inputMode="decimal"
                value={shown[i]}
                data-spill={i}
                onChange={({ currentTarget: { value } }) => {
                  const next = mine.with(i, value.replace(/[:\s]/g, '').replace('−', '-'));
                  setOwn('spill', next.some(Boolean) ? [ticker, ...next].join(':') : null);
                }}
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

function inPercent(value: number | null): string {
  return value === null ? '' : String(Number((100 * value).toFixed(2)));
}
