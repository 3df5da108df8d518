import { cleaned } from '../core/clean-text.ts';
import { lastQuoted } from '../market/calendar.ts';
import { tradingSession } from '../market/trading-session.ts';
import type { Operation, Provenance } from '../operations/engine/operation.ts';
import type { Performed } from '../operations/engine/perform.ts';
import { sixDigits } from './six-digits.ts';

/** The key that only answers over MCP contain, in addition to the keys of the API contract. */
export const PROVENANCE_KEY = 'provenance';

/** Returns a tool's answer with six significant digits and `provenance`, because many hosts show a model only this object. */
export function toolAnswer(performed: Performed): Record<string, unknown> {
  return { ...figuresForModel(performed), [PROVENANCE_KEY]: provenanceForModel(performed) };
}

/** Returns the contract's keys of a tool's answer for models. */
export function figuresForModel({ body }: Pick<Performed, 'body'>): Record<string, unknown> {
  return cleaned(sixDigits(body));
}

/** Returns the provenance of a tool's answer for models, with the echoes and further notes. */
export function provenanceForModel(
  { echoes, provenance }: Pick<Performed, 'echoes' | 'provenance'>,
  further: readonly string[] = [],
): Record<string, unknown> {
  const { notes: given = [], ...means } = echoes as { notes?: readonly string[] };
  const origin = provenance
    ? provenanceInWords(provenance, 'at' in echoes)
    : { source: 'the arguments of this call; no market data was read', notes: [] };
  return cleaned(sixDigits({ ...origin, ...means, notes: [...origin.notes, ...given, ...further] }));
}

/** Returns a note with the age of stale quotes. Models read the notes, and overlook an age among the other values. */
function staleNotes({ stale, age_s }: Pick<Provenance, 'stale' | 'age_s'>): string[] {
  if (!stale) return [];
  return [`Stale: the quotes are ${age_s < 0 ? `dated ${ageInWords(age_s)}` : `${ageInWords(age_s)} old`}.`];
}

/** Returns the provenance of an answer for models, with the age in words. An answer for a moment `at` has no note on stale quotes. */
export function provenanceInWords(provenance: Provenance, hasMoment: boolean) {
  const { source, simulated, as_of, age_s, stale } = provenance;
  const notes = [...(hasMoment ? [] : staleNotes(provenance)), ...provenance.notes];
  // The age is the time from the quotes to the present. In a replay, the age is the time from the quotes to the requested moment.
  const momentMs = Date.parse(as_of) + age_s * 1_000;
  return { as_of, age: ageInWords(age_s), market: marketInWords(momentMs), stale, simulated, source, notes };
}

/** Returns an age in the largest unit that gives at least 2. A negative age is the time by which the quotes are ahead of the clock. */
export function ageInWords(seconds: number): string {
  if (seconds < 0) return `${ageInWords(-seconds)} in the future`;
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Describes whether the exchange is open at a given time. Opening and closing times are in New York time. */
export function marketInWords(momentMs: number): string {
  if (momentMs >= lastWords.fromMs && momentMs < lastWords.untilMs) return lastWords.text;
  const { state, opensAt, closesAt } = tradingSession(momentMs);
  if (state === 'open') {
    lastWords = { text: `open until ${inNewYork(closesAt)} New York`, fromMs: opensAt, untilMs: closesAt };
  } else {
    const fromMs = lastQuoted(momentMs);
    const text = `closed since ${inNewYork(fromMs)}, opens ${inNewYork(opensAt)} New York`;
    lastWords = { text, fromMs, untilMs: opensAt };
  }
  return lastWords.text;
}

/** The last result of `marketInWords`, and the period in which it is valid. The result is cached, because `Temporal` is slow. */
let lastWords = { text: '', fromMs: 0, untilMs: 0 };

/** Returns an instant in New York time, for example `Fri 2026-11-20 16:00`. */
function inNewYork(instantMs: number): string {
  const at = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO('America/New_York');
  return `${WEEKDAYS[at.dayOfWeek - 1]} ${at.toPlainDate()} ${at.toPlainTime().toString({ smallestUnit: 'minute' })}`;
}

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The description of `provenance` in output schemas. */
export function describeProvenanceOf({ full, tool, ofMarket }: Operation): string {
  const echoes = (tool?.echoes ?? [])
    .filter((key) => key !== 'notes')
    .map((key) => `${key}: ${full.properties[key]!.description}`);
  return [ofMarket ? OF_MARKET : 'source, notes (caveats).', ...echoes].join(' ');
}

const OF_MARKET = 'as_of, age and market (of the quotes), stale, simulated, source, notes (caveats).';
