import { useSignal } from '@preact/signals';
import { useAnswer } from '../data/page-answers.ts';
import { type Call, commandOf, curlOf, mcpOf, WEB_OPERATIONS, type WebOperation } from '../operations.ts';
import type { ExplainedFigure } from '../state/explained-figures.ts';
import { jsonExcerpt } from '../state/json-excerpt.ts';
import { tickerCall } from '../state/page.ts';
import { copy } from '../state/ui.ts';
import type { ExplainedSnapshot } from './explain-part.tsx';

const TABS = ['curl', 'MCP', 'zomma', 'JSON'] as const;
type Tab = (typeof TABS)[number];

/** Lines of an answer that the panel shows. The button copies all. */
const LINES_SHOWN = 40;

/** The call that has a figure, elsewhere: with the moment of the snapshot, so that it gives this very figure. */
export function ExplainCall({ figure, snapshot }: { figure: ExplainedFigure; snapshot: ExplainedSnapshot }) {
  const tab = useSignal<Tab>('curl');
  const { ticker, moment, options } = snapshot;
  const call = tickerCall(OPERATION[figure] ?? 'get_live_gex_nodes', moment, options, ticker);
  const json = useAnswer<unknown>(tab.value === 'JSON' ? call : undefined);
  const { text, note } = ((): { text?: string; note?: string } => {
    if (tab.value === 'curl') return { text: curlOf(call, location.origin) };
    if (tab.value === 'MCP') return mcpFormOf(call, Object.keys(options).length > 0);
    if (tab.value === 'zomma') return { text: commandOf(commandCall(call, Object.keys(options).length > 0)) };
    return json.problem ? { note: json.problem.message } : json.answer ? { text: json.answer.text } : {};
  })();
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
              id={`call-${each}`}
              aria-selected={tab.value === each}
              aria-controls="call-text"
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
      <div role="tabpanel" id="call-text" aria-labelledby={`call-${tab.value}`} data-call={tab.value}>
        {text && <pre tabIndex={0}>{tab.value === 'JSON' ? jsonExcerpt(text, LINES_SHOWN) : text}</pre>}
        {note && <p class="muted">{note}</p>}
      </div>
    </>
  );
}

/** The operations that have a figure. Figures that are not named are in the default answer of get_live_gex_nodes. */
const OPERATION: Partial<Record<ExplainedFigure, Call['operation']>> = {
  hedging: 'get_gex_view',
  strike: 'get_gex_by_strike',
};

/** Returns the call as the program takes it. Its tools take no options, so a call with options is that of the whole view. */
function commandCall(call: Call, hasOptions: boolean): Call {
  return hasOptions && WEB_OPERATIONS[call.operation].isTool ? { ...call, operation: 'get_gex_view' } : call;
}

/** Returns the message of MCP, or why there is none. Tools and resources of MCP take no options, and resources no moment. */
function mcpFormOf(call: Call, hasOptions: boolean): { text?: string; note?: string } {
  const { isTool }: WebOperation = WEB_OPERATIONS[call.operation];
  const text = hasOptions ? undefined : mcpOf(call);
  if (!text)
    return {
      note: hasOptions ? 'MCP has no form of a call with options of the analysis.' : 'MCP has no form of this call.',
    };
  return isTool
    ? { text }
    : { text, note: 'This resource of MCP has the newest snapshot, whatever the moment of the page.' };
}
