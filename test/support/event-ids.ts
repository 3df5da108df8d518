import { type EventId, parseEventId } from '../../src/http/live/event-ids.ts';

/** Returns what the id of a live event states. Throws if it is malformed, or a number of an earlier version. */
export function eventIdOf(text: string | undefined): EventId {
  const id = parseEventId(text ?? '');
  if (typeof id === 'object') return id;
  throw new Error(`${text} is no id of an event`);
}

/** Returns the sequence number in the id of a live event. */
export const seqOf = (text: string | undefined): number => eventIdOf(text).seq;
