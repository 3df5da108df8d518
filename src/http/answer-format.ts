import { ClientError } from '../core/errors.ts';
import { tableForms } from '../operations/engine/answer-tables.ts';
import { PICTURE_TYPE } from '../operations/engine/operation.ts';
import { TABLE_FORMATS, type View } from '../operations/engine/perform.ts';
import { JSON_TYPE } from './http-app.ts';

/** The form of an answer. */
export type AnswerFormat = keyof typeof MEDIA_TYPES;

/** The media type of each format, in the order in which the server prefers them. */
const MEDIA_TYPES = {
  json: 'application/json',
  columns: 'application/vnd.zomma.columns+json',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
  arrow: 'application/vnd.apache.arrow.stream',
  image: PICTURE_TYPE,
  binary: 'application/octet-stream',
};

/** Returns the value of `Content-Type` for a format. */
export function contentType(format: AnswerFormat): string {
  if (format === 'json') return JSON_TYPE;
  return format === 'csv' ? 'text/csv;charset=utf-8;header=present' : MEDIA_TYPES[format];
}

/** Returns the formats in which the answers of a view are offered. */
export function formatsOf({ operation, output, answers }: View): readonly AnswerFormat[] {
  const { rest } = operation;
  const hasRows = rest?.method === 'GET' || rest?.bodyBytesMax !== undefined;
  const hasTables = answers !== undefined && hasRows && tableForms(output).length > 0;
  return ['json', ...(hasTables ? TABLE_FORMATS : []), ...(operation.picture ? ['image' as const] : [])];
}

/**
 * Returns the field of an OpenAPI operation that names the tables of its answers, with their columns. The media types of tables are not among
 * those of the answer, because the generators of clients would then give every answer the type "this object or a text".
 */
export function tablesOf(view: View) {
  const forms = formatsOf(view).includes('csv') ? tableForms(view.output) : [];
  const columns = Object.fromEntries(forms.map((form) => [form.name, form.columns.map(({ name }) => name)]));
  const formats = Object.fromEntries(TABLE_FORMATS.map((format) => [format, MEDIA_TYPES[format]]));
  return forms.length > 0 && { 'x-tables': { formats, columns } };
}

/**
 * Returns the offered format that the header field `Accept` prefers (RFC 9110, 12.5.1). A media range that names a type counts as a stronger
 * wish than one with `*`. Throws `ClientError` (406) with the offered media types if `Accept` allows none of them.
 */
export function acceptedFormat(accept: string | null, offered: readonly AnswerFormat[]): AnswerFormat {
  if (accept === null || accept === '' || accept === '*/*') return offered[0]!;
  const ranges = rangesOf(accept);
  const wishes = offered.map((format) => ({ format, ...wishFor(MEDIA_TYPES[format], ranges) }));
  const [best] = wishes.toSorted((a, b) => b.weight - a.weight || b.specificity - a.specificity);
  if (best!.weight > 0) return best!.format;
  throw notOffered(offered);
}

/** Returns the error for a format that a route does not offer. */
export function notOffered(offered: readonly AnswerFormat[]): ClientError {
  const types = offered.map((each) => MEDIA_TYPES[each]).join(', ');
  return new ClientError('not_acceptable', `This route offers only: ${types}`, {
    hint:
      offered.length > 1
        ? 'Name one of these types in Accept, or its format in the argument format.'
        : `Send Accept: ${types}, or no Accept.`,
  });
}

interface MediaRange {
  readonly type: string;
  readonly weight: number;
}

function rangesOf(accept: string): MediaRange[] {
  return accept.split(',', RANGES_MAX).map((each) => {
    const [type = '', ...parameters] = each.split(';').map((item) => item.trim().toLowerCase());
    const weight = parameters.find((item) => item.startsWith('q='));
    // Some old clients send `*` for any type.
    return { type: type === '*' ? '*/*' : type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
}

/** Maximum number of media ranges that are read. The longest header field of a browser has some ten. */
const RANGES_MAX = 50;

/** Returns the weight of the most specific range that includes a type: 2 for the type itself, 1 for all of its kind, 0 for any type. */
function wishFor(type: string, ranges: readonly MediaRange[]): { weight: number; specificity: number } {
  const patterns = ['*/*', `${type.slice(0, type.indexOf('/'))}/*`, type];
  for (let specificity = patterns.length - 1; specificity >= 0; specificity--) {
    const range = ranges.find((each) => each.type === patterns[specificity]);
    if (range) return { weight: range.weight, specificity };
  }
  return { weight: 0, specificity: 0 };
}
