import type { LevelEvent } from '../../market/level-record.ts';
import type { LevelLog, LevelPlace } from '../../market/store.ts';
import { recordedGexNodes } from '../../operations/gex/gex-nodes.ts';
import { type CrossingKind, crossingsOf } from '../../operations/gex/level-crossings.ts';
import { sseEvent } from '../../sse/sse-format.ts';
import { tailOf } from './event-ids.ts';

/** An event of live levels. Its bytes begin with the end of its id, so that streams with different marks can share them. */
export interface GexEvent extends LevelPlace {
  readonly bytes: Uint8Array;
  /** The number of bytes of the id's end. */
  readonly tailBytes: number;
  /** Returns the event with its crossings, or undefined if none of them is of the given kinds. */
  crossed(on: ReadonlySet<CrossingKind>): Uint8Array | undefined;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Creates the event of a level record in the log `name`. The event is encoded when a stream first needs it, because often no stream is open.
 */
export function createGexEvent(
  name: string,
  levels: LevelEvent,
  log: Pick<LevelLog, 'levelEventBefore'>,
  simulated: boolean,
): GexEvent {
  const { seq, underlying, asOf, keptAt } = levels;
  const tail = tailOf(name, levels);
  const encode = (rest?: object) =>
    Buffer.from(`${tail}\n${sseEvent('gex', JSON.stringify({ ...recordedGexNodes(levels), ...rest }))}`);
  let bytes: Uint8Array | undefined;
  let crossed: { readonly kinds: ReadonlySet<CrossingKind>; readonly bytes: Uint8Array } | undefined;
  return {
    ...{ seq, underlying, asOf, keptAt },
    tailBytes: tail.length,
    get bytes() {
      bytes ??= encode();
      return bytes;
    },
    crossed(on) {
      if (!crossed) {
        const before = log.levelEventBefore(underlying, seq, simulated);
        const crossings = before ? crossingsOf(before, levels) : [];
        const kinds = new Set(crossings.map((each) => each.on));
        crossed = { kinds, bytes: kinds.size > 0 ? encode({ crossed: crossings }) : NO_BYTES };
      }
      return crossed.kinds.isDisjointFrom(on) ? undefined : crossed.bytes;
    },
  };
}

/** Returns some events, whose ids begin with `head`, as one chunk. */
export function withIdHead(head: string, events: readonly Uint8Array[]): Uint8Array {
  const start = Buffer.from(`id: ${head}`);
  const pieces: Uint8Array[] = [];
  for (const bytes of events) pieces.push(start, bytes);
  return Buffer.concat(pieces);
}
