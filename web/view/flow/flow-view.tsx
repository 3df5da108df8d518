import { useMemo, useState } from 'preact/hooks';
import { FlowChart } from '../../chart/flow-chart.tsx';
import {
  FLOW_GROUPS,
  type FlowGroup,
  flowKeyText,
  flowReadout,
  flowRows,
  flowTable,
  type SignedPrintShare,
  shareText,
  signedPrintShare,
} from '../../chart/flow-shapes.ts';
import type { AggressorFlows, Asked } from '../../data/page-answers.ts';
import { amount, marketNotes, percent } from '../../page-format.ts';
import { ChartPanel, Problem, ViewState } from '../../panel/chart-panel.tsx';
import { OwnSelect } from '../../panel/choices.tsx';
import { page, setOwn } from '../../state/page.ts';
import { type AskedCall, gexView, useTickerAnswer } from '../../state/page-market.ts';
import { LargePrints } from './large-prints.tsx';
import { SignedTape } from './tape-panel.tsx';

const DAYS = ['1', '5', '10', '30', '90', '366'];
const PREMIUMS = ['0', '10000', '25000', '100000', '250000', '1000000'];
const INITIAL = { by: 'day', days: '30', premium: '0' } as const;

/** Renders the Flow view: the share of signed prints, the flow by day, execution type or expiry, the list of prints, and large prints. */
export function FlowView() {
  const view = gexView.asked.value;
  const { own } = page.value;
  const days = own.days ?? INITIAL.days;
  const premium = own.premium ?? INITIAL.premium;
  const window = { days: Number(days), min_premium: Number(premium) };
  const asked = useTickerAnswer<AggressorFlows>('get_flow_by_aggressor', window);
  if (!view.answer) return <ViewState asked={view} />;
  const group = FLOW_GROUPS.find((each) => each === own.by) ?? INITIAL.by;
  // A change of the grouping clears the selection, because the selected row belongs to one grouping.
  const [pickedBy, ...rest] = own.pick?.split(':') ?? [];
  const picked = pickedBy === group ? rest.join(':') : null;
  const share = asked.answer && signedPrintShare(asked.answer.body.signed_by);
  return (
    <>
      <SignedLead share={share} covered={view.answer.body.levels.by_flow?.signed_share_pct ?? null} asked={asked} />
      <div class={`flow-grid${share?.all === 0 ? ' bare' : ''}`}>
        <FlowPanel asked={asked} group={group} picked={picked} />
        {share?.all !== 0 && (
          <SignedTape
            window={window}
            filter={picked === null ? null : { group, key: picked, text: flowKeyText(picked, group) }}
            onClear={() => setOwn('pick', null)}
          />
        )}
        <LargePrints view={view.answer.body} />
      </div>
    </>
  );
}

interface SignedLeadProps {
  readonly share: SignedPrintShare | undefined;
  readonly covered: number | null;
  readonly asked: Asked<AggressorFlows>;
}

/**
 * Renders the share of signed prints and the methods that signed them. This panel comes first, because all other figures of the Flow view
 * depend on the signed prints.
 */
function SignedLead({ share, covered, asked }: SignedLeadProps) {
  if (!share) return asked.problem ? <Problem problem={asked.problem} /> : <p class="flow-lead inset" />;
  return (
    <div class="flow-lead inset" data-signed={share.percent ?? 'none'}>
      <strong class="lead">{shareText(share)}</strong>
      <div>
        <p>{share.sentence}</p>
        <p class="muted">
          {covered === null
            ? 'Dealers’ positions by signed flow are unknown.'
            : `Customers’ net positions by signed prints are ${percent(covered, 2, false)} of open interest.`}{' '}
          {asked.answer && marketNotes(asked.answer.notes)}
        </p>
      </div>
      <span class="meter" aria-hidden="true">
        <i style={{ width: `${share.percent ?? 0}%` }} />
      </span>
    </div>
  );
}

interface FlowPanelProps {
  readonly asked: AskedCall<AggressorFlows>;
  readonly group: FlowGroup;
  readonly picked: string | null;
}

function FlowPanel({ asked, group, picked }: FlowPanelProps) {
  const body = asked.answer?.body;
  const rows = useMemo(() => (body ? flowRows(body[`by_${group}`], group) : []), [body, group]);
  const table = useMemo(() => flowTable(rows, group), [rows, group]);
  const [cursor, setCursor] = useState<number | null>(null);
  const at = cursor === null ? undefined : rows[cursor];
  return (
    <ChartPanel
      id="flow"
      class="flow-panel"
      title={`Flow by ${group}`}
      unit="premium, $ · bought up, sold down · calls solid, puts hatched, unsigned grey"
      {...asked}
      table={body && table}
      readout={
        rows.length === 0
          ? ''
          : at
            ? flowReadout(at, group)
            : `Point at ${group === 'expiry' ? 'an' : 'a'} ${group}, or use ← and →. Enter filters the tape.`
      }
      controls={
        <>
          <OwnSelect name="by" label="Group by" values={FLOW_GROUPS} initial={INITIAL.by} text={(by) => `by ${by}`} />
          <OwnSelect
            name="days"
            label="Days"
            values={DAYS}
            initial={INITIAL.days}
            text={(days) => (days === '1' ? '1 day' : `${days} days`)}
          />
          <OwnSelect
            name="premium"
            label="Minimum premium"
            values={PREMIUMS}
            initial={INITIAL.premium}
            text={(least) => (least === '0' ? 'any premium' : `from ${amount(Number(least))}`)}
          />
        </>
      }
    >
      {body && rows.length === 0 && (
        <p class="empty">There is no print to draw. Prints come from a feed of trades, or from files of them.</p>
      )}
      {body && rows.length > 0 && (
        <FlowChart
          rows={rows}
          group={group}
          cursor={cursor}
          onCursor={setCursor}
          chosen={picked}
          onChoose={(key) => setOwn('pick', key === picked ? null : `${group}:${key}`)}
        />
      )}
    </ChartPanel>
  );
}
