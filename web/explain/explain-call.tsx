import { useSignal } from '@preact/signals';
import type { ExplainedFigure } from '../data/figure-texts.ts';
import { useAnswer } from '../data/page-answers.ts';
import { CALL_TEXTS, type Call, WEB_OPERATIONS } from '../operations.ts';
import { tickerCall } from '../state/page.ts';
import { copy } from '../state/ui.ts';
import type { ExplainSectionProps } from './explain-part.tsx';
import { jsonExcerpt } from './json-excerpt.ts';

const TABS = ['curl', 'MCP', 'zomma', 'JSON'] as const;
type Tab = (typeof TABS)[number];

/** Maximum number of lines of the answer that the panel shows. The copy button copies all lines. */
const LINES_SHOWN = 40;

/** Renders the API call that returns the figure. The call contains the moment of the snapshot and therefore returns the same figure. */
export function ExplainCall({ figure, snapshot, notes }: ExplainSectionProps) {
  const { ticker, moment, options } = snapshot;
  const call = tickerCall(OPERATION[figure] ?? 'get_live_gex_nodes', moment, options, ticker);
  return <CallForms call={call} notes={notes} />;
}

interface CallFormsProps {
  /** The start of the ids of elements, if the page has several calls. */
  readonly id?: string;
  readonly call: Call;
  readonly notes: ExplainSectionProps['notes'];
}

/** Renders a call as curl, as an MCP message, as a `zomma` command, and its answer as JSON. */
export function CallForms({ id = 'call', call, notes }: CallFormsProps) {
  const tab = useSignal<Tab>('curl');
  const json = useAnswer<unknown>(tab.value === 'JSON' ? call : undefined);
  const text = tab.value === 'JSON' ? json.answer?.text : CALL_TEXTS[tab.value](call);
  const isMissing = tab.value !== 'JSON' && !text;
  const { hasExpiries } = WEB_OPERATIONS[call.operation];
  const note = isMissing ? notes?.[hasExpiries ? 'mcp_options' : 'mcp_none'] : json.problem?.message;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    tab.value = TABS[(TABS.indexOf(tab.value) + step + TABS.length) % TABS.length]!;
    const list = event.currentTarget as HTMLElement;
    list.querySelectorAll<HTMLElement>('[role="tab"]')[TABS.indexOf(tab.value)]!.focus();
    event.preventDefault();
  };
  return (
    <>
      <div class="tabs">
        <div role="tablist" aria-label="Form of the call" onKeyDown={onKeyDown}>
          {TABS.map((each) => (
            <button
              type="button"
              role="tab"
              key={each}
              id={`${id}-${each}`}
              aria-selected={tab.value === each}
              aria-controls={`${id}-text`}
              tabIndex={tab.value === each ? 0 : -1}
              onClick={() => (tab.value = each)}
            >
              {each}
            </button>
          ))}
        </div>
        <span class="spring" />
        <button type="button" disabled={!text} onClick={() => text && copy(text, `the call as ${tab.value}`)}>
          {tab.value === 'JSON' ? 'Copy all' : 'Copy'}
        </button>
      </div>
      <div role="tabpanel" id={`${id}-text`} aria-labelledby={`${id}-${tab.value}`} data-call={tab.value}>
        {text && <pre tabIndex={0}>{tab.value === 'JSON' ? jsonExcerpt(text, LINES_SHOWN) : text}</pre>}
        {note && <p class="muted">{note}</p>}
      </div>
    </>
  );
}

/** The operation for each figure. The default answer of `get_live_gex_nodes` contains every figure that is not in this table. */
const OPERATION: Partial<Record<ExplainedFigure, Call['operation']>> = {
  hedging: 'get_gex_view',
  strike: 'get_gex_by_strike',
};
