import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  callMcpTool,
  indented,
  listMcpTools,
  mcpCurl,
  mcpRequest,
  nextMcpId,
  type ToolOutcome,
} from '../data/mcp-call.ts';
import { memberKey } from '../data/member-key.ts';
import type { Radar } from '../data/page-answers.ts';
import { argumentsOf, type McpTool, problemOf, type ToolField, toolFields } from '../data/tool-fields.ts';
import { toolFigures } from '../data/tool-figures.ts';
import { toolPrefill } from '../data/tool-prefill.ts';
import { cleanText, newYorkMoment } from '../page-format.ts';
import { page } from '../state/page.ts';
import { gexView } from '../state/page-market.ts';
import { copy } from '../state/ui.ts';
import { Fact } from './fact.tsx';

/**
 * Renders the server's tools as forms. The page is an MCP client that lists and calls the tools. The page shows each request and response.
 * The answer `radar` provides initial values for some arguments.
 */
export function ToolForms({ names, radar }: { names: readonly string[]; radar: Radar | undefined }) {
  const [listed, setListed] = useState<Awaited<ReturnType<typeof listMcpTools>>>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let isWanted = true;
    void listMcpTools().then((found) => isWanted && setListed(found));
    return () => {
      isWanted = false;
    };
  }, [memberKey.value, attempt]);
  const { ticker, at } = page.value;
  const view = gexView.asked.value.answer?.body;
  const prefill = useMemo(() => toolPrefill(ticker, at, view, radar), [ticker, at, view, radar]);
  if (!listed) return <p class="empty">Listing the tools over MCP.</p>;
  if (listed.problem)
    return (
      <div class="problem" role="note">
        <p>
          <strong>{listed.problem}</strong>
        </p>
        <button type="button" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </button>
      </div>
    );
  return (
    <div class="tools">
      {names.map((name, i) => {
        const tool = listed.tools.find((each) => each.name === name);
        return tool ? (
          <ToolForm key={name} tool={tool} prefill={prefill} isOpen={i === 0} />
        ) : (
          <p class="empty" key={name}>
            The server has no tool {name}.
          </p>
        );
      })}
    </div>
  );
}

interface ToolFormProps {
  readonly tool: McpTool;
  readonly prefill: Readonly<Record<string, string>>;
  readonly isOpen: boolean;
}

function ToolForm({ tool, prefill, isOpen }: ToolFormProps) {
  const fields = useMemo(() => toolFields(tool), [tool]);
  const [edits, setEdits] = useState<Readonly<Record<string, string>>>({});
  const [outcome, setOutcome] = useState<ToolOutcome & { texts: Readonly<Record<string, string>> }>();
  const [isBusy, setBusy] = useState(false);
  const dropped = useRef<AbortController>(undefined);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => () => dropped.current?.abort(), []);
  const texts = Object.fromEntries(
    fields.map(({ name, initial, choices }) => [name, edits[name] ?? prefill[name] ?? (initial || (choices[0] ?? ''))]),
  );
  const args = argumentsOf(fields, texts);
  const request = mcpRequest('tools/call', { name: tool.name, arguments: args }, nextMcpId());
  const called = outcome && argumentsOf(fields, outcome.texts);
  const isSame = outcome !== undefined && JSON.stringify(called) === JSON.stringify(args);
  const problem = outcome?.problem === undefined ? undefined : problemOf(outcome.problem, fields, outcome.texts);
  const submit = async (event: Event) => {
    event.preventDefault();
    dropped.current?.abort();
    const own = new AbortController();
    dropped.current = own;
    setBusy(true);
    try {
      const next = await callMcpTool(tool.name, args, own.signal);
      setOutcome({ ...next, texts });
      const [first] = Object.keys(next.problem === undefined ? {} : problemOf(next.problem, fields, texts).byField);
      if (first) form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(first)}"]`)?.focus();
    } catch (error) {
      if (!own.signal.aborted) throw error;
    } finally {
      if (dropped.current === own) setBusy(false);
    }
  };
  const shown = isSame ? outcome.exchange.request : request;
  const title = cleanText(tool.title) || tool.name;
  return (
    <details class="tool" open={isOpen} data-tool={tool.name}>
      <summary>
        <h3>{title}</h3> <code>{tool.name}</code>
      </summary>
      <p class="muted">{cleanText(tool.description, 600)}</p>
      <div class="tool-body stack">
        <form class="stack" ref={form} noValidate aria-label={title} onSubmit={submit}>
          <div class="fields">
            {fields.map((field) => (
              <Field
                key={field.name}
                id={`${tool.name}-${field.name}`}
                field={field}
                value={texts[field.name]!}
                problem={isSame ? problem?.byField[field.name] : undefined}
                onInput={(text) => setEdits({ ...edits, [field.name]: text })}
              />
            ))}
          </div>
          <p class="row">
            <button type="submit" class="primary" disabled={isBusy}>
              {isBusy ? 'Calling' : 'Call'}
            </button>
            {Object.keys(edits).length > 0 && (
              <button type="button" onClick={() => setEdits({})}>
                Use the page’s values
              </button>
            )}
            {page.value.at !== null && !fields.some(({ name }) => name === 'at') && (
              <span class="muted">MCP answers the newest data, not {newYorkMoment(page.value.at)}.</span>
            )}
          </p>
          <div class="stack" role="status" data-state={outcome ? (problem ? 'problem' : 'answer') : 'none'}>
            {outcome && !isSame && <p class="muted">The fields have changed since this call.</p>}
            {problem && (problem.rest || !isSame) && (
              <p class="field-problem">✕ {problem.rest || cleanText(outcome?.problem, 600)}</p>
            )}
            {problem && isSame && !problem.rest && <p class="field-problem">✕ A field needs another value.</p>}
            {outcome?.answer && <Answered tool={tool} outcome={outcome} />}
          </div>
        </form>
        <div class="exchange stack">
          <h4 class="ends">
            Request
            <button type="button" onClick={() => copy(mcpCurl(shown, location.origin), 'the MCP request as curl')}>
              Copy as curl
            </button>
          </h4>
          <pre tabIndex={0} data-exchange="request">
            {indented(shown.body)}
          </pre>
          <h4>
            Response
            {!outcome
              ? ': not called yet'
              : ` ${outcome.exchange.status || 'missing'}, ${outcome.exchange.took.toFixed(0)} ms${isSame ? '' : ', of the call before'}`}
          </h4>
          {outcome && (
            <pre tabIndex={0} data-exchange="response">
              {indented(outcome.exchange.response)}
            </pre>
          )}
        </div>
      </div>
    </details>
  );
}

interface FieldProps {
  readonly id: string;
  readonly field: ToolField;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onInput: (text: string) => void;
}

function Field({ id, field, value, problem, onInput }: FieldProps) {
  const { name, label, kind, choices, example, help, rule } = field;
  const shared = {
    id,
    name,
    value,
    'aria-describedby': `${id}-help`,
    'aria-invalid': problem !== undefined,
    'aria-required': field.isRequired,
  };
  return (
    <div class="field stack">
      <span class="ends">
        <label for={id}>{label}</label>
        {rule && <small>{rule}</small>}
      </span>
      {kind === 'choice' ? (
        <select {...shared} onChange={(event) => onInput(event.currentTarget.value)}>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice || 'not given'}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={kind === 'number' ? 'decimal' : kind === 'integer' ? 'numeric' : 'text'}
          placeholder={example}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      <small id={`${id}-help`}>
        {problem && <span class="field-problem">✕ {problem} </span>}
        {help}
      </small>
    </div>
  );
}

interface AnsweredProps {
  readonly tool: McpTool;
  readonly outcome: ToolOutcome;
}

/** Renders the answer of a tool as a list of figures. */
function Answered({ tool, outcome }: AnsweredProps) {
  const figures = toolFigures(outcome.answer!, tool.outputSchema);
  return (
    <>
      <dl class="facts">
        {figures.map(({ name, value, note }) => (
          <Fact key={name} name={name} value={value} note={note} />
        ))}
      </dl>
      {outcome.provenance && <p class="muted">{outcome.provenance}</p>}
    </>
  );
}
