import { FILLER_COMMAND } from '../config.ts';
import { announceStep } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import type { PastProgress } from '../market/feed-ledger.ts';
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
/** The log has a line for each of this many parts of the past. */
const LOGGED_PARTS = 10;

/**
 * Fills the past of the simulated market in a process of its own, so that neither requests nor the memory of the service are affected. The
 * process writes to the data folder and ends when the past is complete. It ends too if the service ends.
 */
export function startPastFill({ job, tickerInView, loaded, observe }: PastFillDeps): { stop(): Promise<void> } {
  let running: { tell(): void; kill(): void; readonly ended: Promise<unknown> } | undefined;
  let mayWrite = false;

  const run = (): void => {
    if (running) return;
    const startedAt = performance.now();
    let first: PastProgress | undefined;
    let last: PastProgress | undefined;
    /** The end that the filler reported. Undefined until then. */
    let end: FromFiller | undefined;
    let isKilled = false;

    const onProgress = (past: PastProgress) => {
      const partOf = ({ done, total }: PastProgress) => Math.floor((LOGGED_PARTS * done) / total);
      const isLogged = past.done < past.total && (last === undefined || partOf(past) > partOf(last));
      first ??= past;
      last = past;
      if (isLogged) observe({ kind: 'past_filling', ...past });
    };
    const onEnd = (how: string) => {
      running = undefined;
      if (isKilled) return;
      if (end === undefined || 'error' in end) observe({ kind: 'past_failed', error: end?.error ?? how });
      else if (first && last && last.done > first.done) {
        const duration_ms = Math.round(performance.now() - startedAt);
        observe({ kind: 'past_filled', snapshots: last.done - first.done, duration_ms });
      }
    };

    announceStep('starting the filler');
    const child = Bun.spawn([...programCommand(), FILLER_COMMAND], {
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', env: childEnv(FILLER_HEAP_BYTES) },
      serialization: 'advanced',
      ipc(message: FromFiller) {
        if ('past' in message) {
          onProgress(message.past);
          tell();
        } else {
          end = message;
          child.kill('SIGKILL');
        }
      },
      onExit: (_, code, signal) => onEnd(`the process ended (${signal ?? `exit code ${code}`})`),
    });
    const tell = (work?: { readonly job: FillerJob }) => {
      if (running && !isKilled) child.send({ ...work, tickerInView: tickerInView(), mayWrite } satisfies ToFiller);
    };
    const kill = () => {
      isKilled = true;
      child.kill('SIGKILL');
    };
    running = { tell, kill, ended: child.exited };
    tell({ job });
  };

  run();
  void loaded.then(() => {
    mayWrite = true;
    running?.tell();
  });
  const timer = setInterval(run, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      running?.kill();
      await running?.ended;
    },
  };
}
