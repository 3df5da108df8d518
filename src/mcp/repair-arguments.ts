import type { TObject, TSchema } from '@sinclair/typebox';
import { cleanLine } from '../core/clean-text.ts';
import { isRecord } from '../core/json-shape.ts';
import { addDays, closeOf, isDate, newYorkDate, newYorkInstant, previousTradingDay } from '../market/calendar.ts';

/** Maximum length of a text that is repaired, characters. Every valid argument is shorter, and the bound limits the work for a call. */
const TEXT_MAX = 10_000;
/** Maximum length of a value in the note, characters. */
const SHOWN_MAX = 60;

/**
 * Repairs the arguments of a tool call. A model cannot correct what its host does to the arguments, so only MCP repairs them:
 *
 * - Null and empty texts are left out. The validation then reports a required field as missing.
 * - A text becomes a number, boolean, array or object if the schema wants one. A list may be JSON or separated by commas.
 * - A choice may be in any case, and `call` and `put` stand for C and P. Full-width characters become plain ones.
 * - A time without a zone is New York time. `now`, `today`, `yesterday` and `previous close` become a moment, as seen from `at` or else from
 *   `nowMs`, which is called only for these words. As `at`, `now` and `today` mean the newest data.
 *
 * Returns the arguments, with unknown fields unchanged, and a note that names every repair. The note is undefined if there is none.
 */
export function repairArguments(
  { properties }: TObject,
  given: unknown,
  nowMs: () => number,
): { readonly args: unknown; readonly note: string | undefined } {
  if (!isRecord(given)) return { args: given ?? {}, note: undefined };
  const repairs: string[] = [];
  const kept = Object.entries(given).flatMap(([field, value]) => {
    const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
    const repaired =
      schema && repairedArgument(field, schema, value, field === 'at' ? nowMs : () => presentOf(given.at, nowMs));
    if (!schema || repaired === value) return [[field, value] as const];
    repairs.push(repaired === undefined ? `${field} is left out` : `${field} is ${shown(repaired)}`);
    return repaired === undefined ? [] : [[field, repaired] as const];
  });
  if (repairs.length === 0) return { args: given, note: undefined };
  return { args: Object.fromEntries(kept), note: `Arguments were repaired: ${repairs.join(', ')}.` };
}

function shown(value: unknown): string {
  return cleanLine(typeof value === 'string' ? value : JSON.stringify(value), SHOWN_MAX);
}

/** Returns the repaired value. Returns `undefined` for an argument that is left out. */
function repairedArgument(field: string, schema: TSchema, value: unknown, presentMs: () => number): unknown {
  if (value === null) return undefined;
  if (typeof value !== 'string') return repairedValue(schema, value);
  const text = plainText(value);
  if (text === '') return undefined;
  return MOMENTS.has(field) ? momentIn(field, text, presentMs) : repairedValue(schema, text);
}

/** The arguments that are a moment. */
const MOMENTS: ReadonlySet<string> = new Set(['at', 'from', 'to', 'compare_with']);

function plainText(text: string): string {
  return text.length > TEXT_MAX ? text : text.normalize('NFKC').trim();
}

function repairedValue(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (schema.type !== 'array' || value.length > schema.maxItems) return value;
    const items = value.map((each) => repairedValue(schema.items, each));
    return items.some((each, i) => each !== value[i]) ? items : value;
  }
  if (typeof value !== 'string' || value.length > TEXT_MAX) return value;
  const text = plainText(value);
  switch (schema.type) {
    case 'number':
    case 'integer':
      return NUMBER.test(text) ? Number(text) : value;
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? text.toLowerCase() === 'true' : value;
    case 'array':
      return repairedValue(schema, listIn(text));
    case 'object': {
      const parsed = parsedJson(text);
      return isRecord(parsed) ? parsed : value;
    }
    default:
      return schema.enum ? (choiceIn(schema.enum, text.toLowerCase()) ?? value) : text;
  }
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** Returns the items of a list: JSON, or texts that are separated by commas, with or without brackets and quotation marks. */
function listIn(text: string): unknown[] {
  const parsed = parsedJson(text);
  if (Array.isArray(parsed)) return parsed;
  const items = text.replace(/^\[|\]$/g, '').split(',');
  return items.map((each) => each.trim().replace(/^(['"])(.*)\1$/, '$2')).filter((each) => each !== '');
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function choiceIn(choices: readonly string[], lower: string): string | undefined {
  return choices.find((each) => each.toLowerCase() === lower || OPTION_WORDS[each]?.test(lower));
}

/** The words for a choice. */
const OPTION_WORDS: Readonly<Record<string, RegExp>> = { C: /^calls?$/, P: /^puts?$/ };

/** Returns the moment that a text means in a field, as the tools take it. Returns any other text unchanged, and `undefined` for no moment. */
function momentIn(field: string, text: string, presentMs: () => number): string | undefined {
  const [, date, time, zone] = LOCAL_TIME.exec(text) ?? [];
  if (isDate(date ?? '')) {
    return zone ? `${date}T${time}${zone.toUpperCase()}` : inNewYork(newYorkInstant(date!, time!));
  }
  const today = () => newYorkDate(presentMs());
  switch (text.toLowerCase().replace(/[\s_-]+/g, ' ')) {
    case 'now':
      return field === 'at' ? undefined : inNewYork(presentMs());
    case 'today':
      if (field === 'at') return undefined;
      // What has changed today has changed since the day began.
      return field === 'compare_with' ? inNewYork(newYorkInstant(today(), '00:00')) : today();
    case 'yesterday':
      return addDays(today(), -1);
    case 'previous':
    case 'previous close':
    case 'prev':
    case 'prev close':
      return field === 'compare_with' ? 'previous_close' : inNewYork(closeOf(previousTradingDay(today())));
    default:
      return text;
  }
}

/** Matches a date and a time, with or without a zone. */
const LOCAL_TIME =
  /^(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:\d{2})?$/i;

/** Returns the moment to which words such as `yesterday` refer, ms since the epoch: the moment of a replay, or else the present. */
function presentOf(at: unknown, nowMs: () => number): number {
  const text = typeof at === 'string' ? momentIn('at', plainText(at), nowMs) : undefined;
  if (text === undefined) return nowMs();
  const atMs = isDate(text) ? newYorkInstant(text, '23:59:59.999') : Date.parse(text);
  return Number.isNaN(atMs) ? nowMs() : atMs;
}

/** Returns an instant with the offset of New York, for example `2026-11-20T16:00:00-05:00`. */
function inNewYork(instantMs: number): string {
  return Temporal.Instant.fromEpochMilliseconds(instantMs).toString({ timeZone: 'America/New_York' });
}
