import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Radar, useAnswer, useRested } from '../../data/page-answers.ts';
import { parseData, RequestProblem, send, type WebAnswer } from '../../data/request.ts';
import {
  argumentsOf,
  problemsByField,
  type ToolDescription,
  type ToolField,
  toolFields,
} from '../../data/tool-fields.ts';
import { toolFigures } from '../../data/tool-figures.ts';
import { toolPrefill } from '../../data/tool-prefill.ts';
import { CallForms } from '../../explain/explain-call.tsx';
import { type Call, WEB_OPERATIONS, type WebOperationName } from '../../operations.ts';
import { cleanText, marketNotes, newYorkMoment } from '../../page-format.ts';
import { Problem } from '../../panel/chart-panel.tsx';
import { Facts } from '../../panel/facts.tsx';
import { page } from '../../state/page.ts';
import { gexView, useTickerAnswer } from '../../state/page-market.ts';

const TOOLS = (Object.keys(WEB_OPERATIONS) as WebOperationName[]).filter((name) => WEB_OPERATIONS[name].isTool);

/** Delay before the forms of a call follow the fields, in ms. */
const REST_MS = 300;

/** Renders the server's tools as forms. The arguments of each tool come from `/openapi.json`, and their first values from the page. */
export function StatusTools() {
  const [paths, setPaths] = useState<Readonly<Record<string, { readonly post: ToolDescription }>> | RequestProblem>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    send('/openapi.json', {})
      .then((response) => response.text())
      .then((text) => setPaths((parseData(text) as { paths: Record<string, { post: ToolDescription }> }).paths))
      .catch(setPaths);
  }, [attempt]);
  const radar = useTickerAnswer<Radar>('run_strategic_omni_radar', {}).answer?.body;
  const { ticker, at } = page.value;
  const view = gexView.asked.value.answer?.body;
  const prefill = useMemo(() => toolPrefill(ticker, at, view, radar), [ticker, at, view, radar]);
  if (!paths) return <p class="empty">Listing the tools.</p>;
  if (paths instanceof RequestProblem)
    return (
      <div class="state">
        <Problem problem={paths} />
        <button type="button" onClick={() => setAttempt(attempt + 1)}>
          Try again
        </button>
      </div>
    );
  return (
    <div class="tools">
      {TOOLS.map((name, i) => (
        <ToolForm
          key={name}
          name={name}
          tool={paths[`/api/v1/tools/${name}`]!.post}
          prefill={prefill}
          isOpen={i === 0}
        />
      ))}
    </div>
  );
}

interface ToolFormProps {
  readonly name: WebOperationName;
  readonly tool: ToolDescription;
  readonly prefill: Readonly<Record<string, string>>;
  readonly isOpen: boolean;
}

/** Renders a tool: its fields, the figures of its answer, and the call as curl, MCP message and command. */
function ToolForm({ name, tool, prefill, isOpen }: ToolFormProps) {
  const fields = useMemo(() => toolFields(tool), [tool]);
  const [edits, setEdits] = useState<Readonly<Record<string, string>>>({});
  const [sent, setSent] = useState<Call>();
  const form = useRef<HTMLFormElement>(null);
  const texts = Object.fromEntries(
    fields.map((field) => [
      field.name,
      edits[field.name] ?? prefill[field.name] ?? (field.initial || field.choices[0] || ''),
    ]),
  );
  const call: Call = { operation: name, args: argumentsOf(fields, texts), isTool: true };
  const rested = useRested(call, JSON.stringify(call), REST_MS) ?? call;
  const { answer, problem, isSlow } = useAnswer<Readonly<Record<string, unknown>>>(sent, sent);
  const isSame = JSON.stringify(sent) === JSON.stringify(call);
  const problems = problem && isSame ? problemsByField(problem, fields, texts) : {};
  useEffect(() => form.current!.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [problem]);
  const title = cleanText(tool.summary) || name;
  return (
    <details class="tool" open={isOpen} data-tool={name}>
      <summary>
        <h3>{title}</h3> <code>{name}</code>
      </summary>
      <p class="muted">{cleanText(tool.description, 600)}</p>
      <div class="tool-body stack">
        <form
          class="stack"
          ref={form}
          noValidate
          aria-label={title}
          onSubmit={(event) => {
            event.preventDefault();
            setSent({ ...call });
          }}
        >
          <div class="fields">
            {fields.map((field) => (
              <Field
                key={field.name}
                id={`${name}-${field.name}`}
                field={field}
                value={texts[field.name]!}
                problem={problems[field.name]}
                onInput={(text) => setEdits({ ...edits, [field.name]: text })}
              />
            ))}
          </div>
          <p class="row">
            <button type="submit" class="primary">
              {isSlow ? 'Calling' : 'Call'}
            </button>
            {Object.keys(edits).length > 0 && (
              <button type="button" onClick={() => setEdits({})}>
                Use the page’s values
              </button>
            )}
            {page.value.at !== null && !fields.some((field) => field.name === 'at') && (
              <span class="muted">This tool answers the newest data, not {newYorkMoment(page.value.at)}.</span>
            )}
          </p>
          <div class="stack" role="status" data-state={problem ? 'problem' : answer ? 'answer' : 'none'}>
            {sent && !isSame && <p class="muted">The fields have changed since this call.</p>}
            {Object.keys(problems).length > 0 && <p class="field-problem">✕ A field needs another value.</p>}
            {problem && Object.keys(problems).length === 0 && <Problem problem={problem} />}
            {answer && !problem && <Answered tool={tool} answer={answer} />}
          </div>
        </form>
        <div>
          <CallForms id={name} call={rested} notes={undefined} />
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
  const shared = {
    id,
    name: field.name,
    value,
    'aria-describedby': `${id}-help`,
    'aria-invalid': problem !== undefined,
    'aria-required': field.isRequired,
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <div class="field stack">
      <span class="ends">
        <label for={id}>{field.label}</label>
        <small>{field.rule}</small>
      </span>
      {field.kind === 'choice' ? (
        <select {...shared}>
          {field.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice || 'not given'}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          placeholder={field.example}
          autocomplete="off"
          spellcheck={false}
        />
      )}
      <small id={`${id}-help`}>
        {problem && <span class="field-problem">✕ {problem} </span>}
        {field.help}
      </small>
    </div>
  );
}

interface AnsweredProps {
  readonly tool: ToolDescription;
  readonly answer: WebAnswer<Readonly<Record<string, unknown>>>;
}

/** Renders the answer of a tool as figures, with the source and the age of the market data. */
function Answered({ tool, answer: { body, asOf, source, notes } }: AnsweredProps) {
  const { schema } = tool.responses[200].content['application/json'];
  return (
    <>
      <Facts of={toolFigures(body, schema.anyOf?.[0] ?? schema)} />
      <p class="muted">
        {asOf && `Source: ${source}, quotes of ${newYorkMoment(asOf)} New York.`} {marketNotes(notes)}
      </p>
    </>
  );
}
