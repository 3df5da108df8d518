import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import type { PastProgress } from '../market/feed-ledger.ts';
import { FILLER_COMMAND } from '../settings/config.ts';
import { childEnv, programCommand } from './own-program.ts';

/** What the process that fills the past of the simulated market needs to know. */
export interface FillerJob {
  readonly dataDir: string;
  readonly dataMax: number | undefined;
  readonly seed: number;
  /** The file of the universe. Undefined for the standard universe. */
  readonly universe: string | undefined;
  readonly largePrintMinUsd: number;
}

/** A message from the service to the filler. The first message has the job. */
export interface ToFiller {
  readonly job?: FillerJob;
  /** The ticker that is filled first. */
  readonly tickerInView: string;
  /** Whether the filler may write to the store. While the service loads its data, it needs the store for itself. */
  readonly mayWrite: boolean;
}

/**
 * A message from the filler to the service. The service answers the progress with the ticker that is now in view. After any other message,
 * it ends the filler.
 */
export type FromFiller = { readonly past: PastProgress } | { readonly error: string } | { readonly isComplete: true };

export interface PastFillDeps {
  readonly job: FillerJob;
  /** Returns the ticker whose past is filled first. */
  readonly tickerInView: () => string;
  /** Returns whether clients wait for answers. The filler then makes pauses. */
  readonly isAnswering?: () => boolean;
  /** Resolves when the feed has delivered the present. */
  readonly loaded: Promise<unknown>;
  readonly observe: Observe;
}

/**
 * Time from one fill to the next, ms. The first fill begins immediately. Usually it leaves nothing to later fills, except after a failure, or
 * if the machine slept in trading hours.
 */
const EVERY_MS = 3_600_000;
/** The size of the machine's memory that the filler's garbage collector assumes. */
const FILLER_HEAP_BYTES = 128 * 1024 * 1024;
/** Maximum pause of the filler while clients wait for answers, ms. With this maximum, the past of a busy server is filled too. */
const BUSY_PAUSE_MS = 2_000;
const BUSY_CHECK_MS = 20;
/** The log has a line for each of this many parts of the past. */
const LOGGED_PARTS = 10;

/**
 * Fills the past of the simulated market in a process of its own, so that neither requests nor the memory of the service are affected. The
 * process writes to the data folder and ends when the past is complete. It ends too if the service ends.
 */
export function startPastFill(deps: PastFillDeps): { stop(): Promise<void> } {
  let mayWrite = false;
  let filler: Filler | undefined;
  const run = () => {
    if (!filler?.isRunning()) filler = startFiller(deps, () => mayWrite);
  };
  run();
  void deps.loaded.then(() => {
    mayWrite = true;
    filler?.tell();
  });
  const timer = setInterval(run, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await filler?.stop();
    },
  };
}

interface Filler {
  isRunning(): boolean;
  /** Tells the filler which ticker is in view, and whether it may write. */
  tell(): void;
  stop(): Promise<unknown>;
}

function startFiller({ job, tickerInView, isAnswering, observe }: PastFillDeps, mayWrite: () => boolean): Filler {
  const startedAt = performance.now();
  let first: PastProgress | undefined;
  let last: PastProgress | undefined;
  /** Whether the end of the process is known and reported. */
  let hasEnded = false;

  const onProgress = (past: PastProgress) => {
    const partOf = ({ done, total }: PastProgress) => Math.floor((LOGGED_PARTS * done) / total);
    if (past.done < past.total && (!last || partOf(past) > partOf(last))) observe({ kind: 'past_filling', ...past });
    first ??= past;
    last = past;
  };
  const onComplete = () => {
    if (!first || !last || last.done === first.done) return;
    const duration_ms = Math.round(performance.now() - startedAt);
    observe({ kind: 'past_filled', snapshots: last.done - first.done, duration_ms });
  };
  const whileAnswering = async () => {
    const until = performance.now() + BUSY_PAUSE_MS;
    while (isAnswering?.() && performance.now() < until) await Bun.sleep(BUSY_CHECK_MS);
  };
  const end = (report: () => void) => {
    if (!hasEnded) report();
    hasEnded = true;
    child.kill('SIGKILL');
  };

  announceStep('starting the filler');
  const child = Bun.spawn([...programCommand(), FILLER_COMMAND], {
    ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', env: childEnv(FILLER_HEAP_BYTES) },
    serialization: 'advanced',
    ipc(message: FromFiller) {
      if ('error' in message) end(() => observe({ kind: 'past_failed', error: message.error }));
      else if ('isComplete' in message) end(onComplete);
      else {
        onProgress(message.past);
        void whileAnswering().then(() => tell());
      }
    },
    onExit(_, code, signal) {
      const error = `the process ended (${signal ?? `exit code ${code}`})`;
      end(() => observe({ kind: 'past_failed', error }));
    },
  });
  const tell = (work?: { readonly job: FillerJob }) => {
    if (!hasEnded) child.send({ ...work, tickerInView: tickerInView(), mayWrite: mayWrite() } satisfies ToFiller);
  };
  tell({ job });
  return {
    isRunning: () => !hasEnded,
    tell: () => tell(),
    stop() {
      end(() => {});
      return child.exited;
    },
  };
}
