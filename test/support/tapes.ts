import { PrintBatch } from '../../src/market/print-batch.ts';
import type { Print } from '../../src/market/prints.ts';
import type { StoredTape, Stretch } from '../../src/market/tape.ts';
import { dayOf, type TapeColumns } from '../../src/market/tape-columns.ts';
import { sumsOf } from '../../src/market/tape-sums.ts';
import { entriesOf } from '../../src/store/tape/tape-entries.ts';

/** Returns prints as columns. The prints must have the same underlying and be in time order. */
export function tapeColumnsOf(prints: readonly Print[]): TapeColumns {
  const { ids: _, ...columns } = entriesOf(
    PrintBatch.of(prints),
    [...prints.keys()],
    new Uint32Array(2 * prints.length),
    new Uint8Array(prints.length),
  );
  return columns;
}

/** Returns a stretch from prints in memory. The prints must be of one day and in time order. */
export function stretchOf(prints: Print[]): Stretch {
  const columns = () => tapeColumnsOf(prints);
  const { at } = prints.at(-1)!;
  return { day: dayOf(at), toMs: at, columns, sums: () => sumsOf(columns()), prints: () => prints };
}

/** Returns a tape from prints in memory, in time order, with one stretch for each day. */
export function tapeOf(prints: readonly Print[], version: string): StoredTape {
  const stretches: StoredTape['stretches'] = (_parts, fromMs = 0) =>
    [
      ...Map.groupBy(
        prints.filter(({ at }) => at >= fromMs),
        ({ at }) => dayOf(at),
      ).values(),
    ].map(stretchOf);
  return { count: prints.length, version, prints, stretches };
}
