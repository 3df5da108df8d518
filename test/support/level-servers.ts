import { parseEventId } from '../../src/http/live/event-ids.ts';
import { createGexEvents, type GexPage } from '../../src/http/live/gex-events.ts';
import type { CrossingKind } from '../../src/operations/gex/level-crossings.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { keepLevels } from '../store/samples.ts';

/** A clock that several servers share. */
export interface TestClock {
  nowMs: number;
}

/** A live event as its client reads it. */
export interface ReadEvent {
  readonly id: string;
  readonly name: string;
  readonly ticker: string;
  readonly asOf: number;
}

/** A server with a log of its own, whose clock is ahead of the common one by `aheadMs`. */
export class LevelServer {
  readonly store: Store;
  private events: ReturnType<typeof createGexEvents>;
  private readonly nowMs: () => number;

  constructor(clock: TestClock, { path = ':memory:', aheadMs = 0 } = {}) {
    this.nowMs = () => clock.nowMs + aheadMs;
    this.store = openStore(path, this.nowMs);
    this.events = this.open();
  }

  private open() {
    return createGexEvents(this.store, false, { nowMs: this.nowMs, recentMax: 40 });
  }

  restart(): void {
    this.events = this.open();
  }

  /** Stores the levels of a snapshot. */
  keep(underlying: string, asOf: number, levels: NonNullable<Parameters<typeof keepLevels>[1]> = {}): void {
    keepLevels(this.store, { ...levels, underlying, asOf });
    this.events.refresh();
  }

  /** Opens a stream after an id. Each call of the result reads the events up to now, one by one. */
  connect(after: string | undefined, tickers: readonly string[], on?: ReadonlySet<CrossingKind>) {
    const { events } = this;
    const selection = { tickers: new Set(tickers), on };
    let position = after === undefined ? undefined : events.resumeFrom(parseEventId(after)!, selection);
    return function* (): Generator<ReadEvent, void> {
      if (!position) {
        const first = on ? events.start(selection) : events.current(selection.tickers);
        position = first.next;
        yield* eventsIn(first.chunks);
      }
      for (let isDue = true; isDue; ) {
        const page: GexPage = events.recentPage(position, selection) ?? events.storedPage(position, selection);
        position = page.next;
        yield* eventsIn(page.chunks);
        isDue = page.hasMore || page.chunks.length > 0;
      }
    };
  }
}

function* eventsIn(chunks: readonly Uint8Array[]): Generator<ReadEvent, void> {
  for (const [, id, name, data] of Buffer.concat(chunks)
    .toString()
    .matchAll(/id: (.*)\nevent: (.*)\ndata: (.*)\n\n/g)) {
    const { ticker, provenance } = JSON.parse(data!);
    yield { id: id!, name: name!, ticker, asOf: Date.parse(provenance?.as_of) };
  }
}
