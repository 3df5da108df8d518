import { expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEventId } from '../../../src/http/live/event-ids.ts';
import { createGexEvents } from '../../../src/http/live/gex-events.ts';
import { createSubscription } from '../../../src/http/live/gex-subscription.ts';
import { openStore } from '../../../src/store/sqlite.ts';
import { keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { eventsOf } from '../../support/event-stream.ts';
import { withFolder } from '../../support/process.ts';

const nowMs = () => MONDAY_MS;
const at = (minutes: number) => MONDAY_MS + 60_000 * minutes;
const selection = { tickers: new Set(['SPX']), on: undefined };

interface Lagging {
  /** Stores levels on this server, as its next reading of the log would. */
  keep(...minutes: number[]): void;
  /** Lets this server have read the log to its end after the client has come. */
  read(): Promise<void>;
  /** Resolves when the stream has found that the server lacks the event. */
  readonly come: Promise<void>;
  /** Resolves when the stream has found out where it resumes. */
  readonly resumed: Promise<void>;
  readonly hasResumed: () => boolean;
  /** Returns the moment of the next event, minutes. */
  next(): Promise<number>;
}

/** Lets a client that has three levels come to a server of the same log that has read only the first. */
const onLaggingServer = (work: (lagging: Lagging) => Promise<void>): Promise<void> =>
  withFolder(async (folder) => {
    const path = (name: string) => join(folder, name);
    {
      const store = openStore(path('ahead'), nowMs);
      keepLevels(store, { asOf: at(-30) });
      store.close();
    }
    copyFileSync(path('ahead'), path('behind'));
    const [ahead, behind] = [openStore(path('ahead'), nowMs), openStore(path('behind'), nowMs)];
    for (const minutes of [-20, -10]) keepLevels(ahead, { asOf: at(minutes) });
    const sent = createGexEvents(ahead, false, { nowMs }).current(selection.tickers);
    const [, id] = /id: (.*)\n/.exec(Buffer.concat(sent.chunks).toString())!;

    let readAtMs = performance.now();
    const come = Promise.withResolvers<void>();
    const sinceReadMs = () => {
      come.resolve();
      return performance.now() - readAtMs;
    };
    const events = createGexEvents(behind, false, { nowMs, sinceReadMs });
    const { promise: resumed, resolve } = Promise.withResolvers<void>();
    let hasResumed = false;
    const subscription = createSubscription({
      ...{ events, selection, after: parseEventId(id!) },
      async runScheduled(read) {
        hasResumed = true;
        resolve();
        return read();
      },
      onClose() {},
    });
    const wake = () => {
      events.refresh();
      subscription.wake();
    };
    const received = eventsOf(subscription.stream.body);
    try {
      await work({
        keep(...minutes) {
          for (const each of minutes) keepLevels(behind, { asOf: at(each) });
          wake();
        },
        async read() {
          await come.promise;
          readAtMs = performance.now();
          wake();
        },
        come: come.promise,
        resumed,
        hasResumed: () => hasResumed,
        async next() {
          const { data } = (await received.next())!;
          return (Date.parse(JSON.parse(data).provenance.as_of) - MONDAY_MS) / 60_000;
        },
      });
    } finally {
      subscription.end(true);
      for (const store of [ahead, behind]) store.close();
    }
  });

test('a stream waits until the server has the client’s last event, and goes on after it', () =>
  onLaggingServer(async ({ keep, come, hasResumed, resumed, next }) => {
    await come;
    keep(-20);
    expect(hasResumed()).toBe(false);
    keep(-10);
    await resumed;
    keep(-5);
    expect(await next()).toBe(-5);
  }));

test('a stream whose last event the log has lost gets what other servers would send', () =>
  onLaggingServer(async ({ keep, read, resumed, next }) => {
    await read();
    await resumed;
    keep(-19, -9);
    expect([await next(), await next()]).toEqual([-19, -9]);
  }));
