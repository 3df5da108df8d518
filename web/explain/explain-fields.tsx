import type { FigureFile } from '../data/figure-texts.ts';
import { WEB_OPERATIONS, type WebOperationName } from '../operations.ts';
import { Facts } from '../panel/facts.tsx';
import { pageOptions, tickerCall } from '../state/page.ts';
import { asOf, gexView } from '../state/page-market.ts';
import { panelCall } from '../state/panels.ts';
import { CallForms } from './explain-call.tsx';
import { ExplainInputs } from './explain-inputs.tsx';
import { ExplainMethod } from './explain-method.tsx';
import { ExplainPart } from './explain-part.tsx';
import { remarksOn } from './explained-figures.ts';

/** The figures of an operation, or one field of its answer. */
export interface ExplainedFields {
  readonly operation: WebOperationName;
  readonly field: string | null;
}

/** Returns the operation and the field of an id such as `get_gex_by_expiry.skew_25d`. Undefined if the id names no operation of the page. */
export function fieldsOfId(id: string): ExplainedFields | undefined {
  const [operation = '', ...rest] = id.split('.');
  if (!Object.hasOwn(WEB_OPERATIONS, operation)) return undefined;
  return { operation: operation as WebOperationName, field: rest.length > 0 ? rest.join('.') : null };
}

/** Returns the name of explained figures: the words of the field, or the title of the operation. */
export function fieldsName({ operation, field }: ExplainedFields): string {
  return field === null ? WEB_OPERATIONS[operation].title : wordsOf(field);
}

const wordsOf = (field: string) => field.replaceAll('_', ' ').replaceAll('.', ', ');

/** Renders the sentences of an operation's figures, or of one field, with the inputs of the snapshot and the call of the panel. */
export function ExplainFields({ operation, field, texts }: ExplainedFields & { texts: FigureFile | undefined }) {
  const { answer } = gexView.asked.value;
  const known = texts?.fields[operation];
  if (!texts) return null;
  const options = WEB_OPERATIONS[operation].hasExpiries ? pageOptions.value : {};
  const call = panelCall(operation) ?? tickerCall(operation, asOf.value, options);
  const sentence = field === null ? undefined : known?.fields[field];
  return (
    <>
      {sentence && (
        <>
          <h3>What it is</h3>
          <p data-sentence={field}>{sentence}</p>
        </>
      )}
      {remarksOn(texts.remarks, call.args).map((remark) => (
        <p key={remark}>{remark}</p>
      ))}
      {known?.method && <ExplainMethod section={known.method} item="" />}
      {known && (
        <ExplainPart
          id={sentence ? 'fields' : 'all-fields'}
          title={sentence ? 'The other figures of this panel' : 'The figures'}
        >
          {() => (
            <Facts
              of={Object.entries(known.fields)
                .filter(([name]) => name !== field)
                .map(([name, text]) => [wordsOf(name), text])}
            />
          )}
        </ExplainPart>
      )}
      {answer && (
        <ExplainPart id="inputs" title="What went in">
          {() => <ExplainInputs answer={answer} figure="net_gex" />}
        </ExplainPart>
      )}
      <ExplainPart id="call" title="The same call">
        {() => <CallForms call={call} notes={texts.notes} />}
      </ExplainPart>
    </>
  );
}
