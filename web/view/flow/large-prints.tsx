import type { GexView, WhalePrints } from '../../data/page-answers.ts';
import { FigureTable } from '../../grid/figure-table.tsx';
import { amount, cleanText, countText, newYorkDay, percent, signedAmount } from '../../page-format.ts';
import { ChartPanel } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { navigate, page } from '../../state/page.ts';
import { useTickerAnswer } from '../../state/page-market.ts';

const dayOf = (expiry: string) => newYorkDay(expiry, true);

/** Renders the large prints of one expiry, and their sums. */
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
    </div>
  );
}

function Sums({ body }: { body: WhalePrints }) {
  const { by_side: side, net_fiat_exposure: net } = body;
  const { rows } = largePrintsTable(body);
  const most = Math.max(...rows.map(([, premium]) => premium), 1);
  const what =
    body.flow_from === 'prints' ? `prints from ${amount(body.min_premium)}` : 'contracts with volume (at their mid)';
  return (
    <div class="stack inset" data-expiry={cleanText(body.target_expiry)}>
      <p>
        {body.counted === 0
          ? `In ${body.window_days} days there were no ${what} of ${dayOf(body.target_expiry)}.`
          : `In ${body.window_days} days ${countText(body.counted)} ${what} of ${dayOf(body.target_expiry)} sum to ${signedAmount(net)} dollars, calls less puts, and ${signedAmount(body.net_volume_delta)} contracts.`}
      </p>
      <FigureTable
        label="Sums of the large prints"
        head={['Side', 'Premium', 'At the ask', 'At the bid']}
        rows={rows.map(([name, premium, ask, bid]) => [
          name,
          <>
            {amount(premium)}
            <i class={`sum-bar ${name}`} style={{ width: `${(100 * premium) / most}%` }} />
          </>,
          <span class={ask ? 'positive' : ''}>{amount(ask)}</span>,
          <span class={bid ? 'negative' : ''}>{amount(bid)}</span>,
        ])}
      />
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

/** Returns the sums of calls and of puts. The sides of a ticker without prints are unknown. */
function largePrintsTable({ by_side: side, call_fiat_paid, put_fiat_paid }: WhalePrints) {
  type Sum = readonly [side: string, premium: number, atAsk: number | null, atBid: number | null];
  const rows: Sum[] = [
    ['calls', call_fiat_paid, side?.call_at_ask ?? null, side?.call_at_bid ?? null],
    ['puts', put_fiat_paid, side?.put_at_ask ?? null, side?.put_at_bid ?? null],
  ];
  return { columns: ['side', 'premium', 'at_ask', 'at_bid'], rows };
}
