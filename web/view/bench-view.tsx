import { useEffect, useMemo, useState } from 'preact/hooks';
import { SpeedBars } from '../chart/speed-bars.tsx';
import { nanoseconds, speedRows, speedTable } from '../chart/speed-rows.ts';
import { BENCH_OPTIONS } from '../data/browser-kernels.ts';
import type { DocumentedSpeed } from '../data/documented-speed.ts';
import { usePageFile } from '../data/page-files.ts';
import { parseServerBench } from '../data/server-speed.ts';
import { cleanText, countText, plain } from '../page-format.ts';
import { PlainTable } from '../part/plain-table.tsx';
import { TerminalText } from '../part/terminal-text.tsx';
import { type BenchRun, benchRun, startBench, stopBench } from '../state/bench-run.ts';
import { copy } from '../state/ui.ts';

type ServerBench = ReturnType<typeof parseServerBench>;

/** The server's kernels, timed in this browser beside the server's own figures. */
export function BenchView() {
  const run = benchRun.value;
  const [bench, setBench] = useState<ServerBench>();
  const documented = usePageFile<DocumentedSpeed>('benchmarks');
  const rows = useMemo(
    () => (run ? speedRows(run.times, bench?.times, documented) : []),
    [run?.times, bench, documented],
  );
  // The other views need the processor.
  useEffect(() => stopBench, []);
  const isRunning = run !== null && run.now !== null;
  return (
    <div class="bench" data-bench={isRunning ? 'running' : run ? 'done' : 'idle'}>
      <section class="bench-head">
        <h2>The kernels in your browser</h2>
        <p class="bench-acts">
          <button type="button" class="primary" data-start disabled={isRunning} onClick={() => void startBench()}>
            {run ? 'Measure again' : 'Measure'}
          </button>
          <button type="button" data-stop disabled={!isRunning} onClick={stopBench}>
            Stop
          </button>
          {run && !isRunning && rows.length > 0 && (
            <button type="button" onClick={() => copy(jsonOf(run), 'the result as JSON')}>
              Copy JSON
            </button>
          )}
        </p>
        {isRunning && <progress max={1} value={run.share} aria-label="Progress of the measurement" />}
        <p role="status">
          {run?.problem ? `The run ended early: ${run.problem}` : isRunning ? `Measuring: ${run.now}` : ''}
          {run?.wasHidden && ' The page was hidden for a time, so the browser may have slowed it down.'}
        </p>
      </section>
      {rows.length > 0 && (
        <section class="panel" data-panel="speed" aria-label="Speed">
          <header class="panel-head">
            <h2>Time of a unit of work</h2>
            <span class="unit">nanoseconds, shorter is faster; each kernel has its own scale</span>
          </header>
          <SpeedBars rows={rows} />
          <p data-request>{requestSentence(run!.requests)}</p>
          <PlainTable table={speedTable(rows)} title="Time of a unit of work" />
        </section>
      )}
      {run && <Agreement run={run} />}
      <Sources run={run} bench={bench} documented={documented} onBench={setBench} />
    </div>
  );
}

function requestSentence(requests: BenchRun['requests']): string {
  if (requests === null || typeof requests === 'string') return requests ?? '';
  const { ns, spread } = requests.time;
  const ms = (each: number) => plain((each * BENCH_OPTIONS) / 1e6, 3);
  return `The server answers a request for price and Greeks of the same options in ${ms(ns)} ms (middle half ${ms(spread[0])} to ${ms(spread[1])}), which is ${nanoseconds(ns)} an option.`;
}

/** How exact the results of this browser are. */
function Agreement({ run: { accuracy, bits } }: { run: BenchRun }) {
  if (!accuracy) return null;
  const { rows, errors } = accuracy;
  const worst = Math.max(...errors.map(({ worstScaledError }) => worstScaledError));
  return (
    <section class="panel" data-panel="accuracy" aria-label="Accuracy">
      <header class="panel-head">
        <h2>Accuracy here</h2>
        <span class="unit">1 is the error that one rounding of each input can cause</span>
      </header>
      <p>
        The largest error of this browser is <strong data-worst>{plain(worst, 3)}</strong>, against {rows} of the 5,000
        rows of reference values in 60-digit arithmetic.
        {bits && (
          <>
            {' '}
            Of the {countText(bits.all)} prices and Greeks that the server has sent,{' '}
            <strong data-bits>{bits.same === bits.all ? 'all' : countText(bits.same)}</strong> have the same bits as
            here.
          </>
        )}
      </p>
      <PlainTable
        title="Largest errors"
        table={{
          columns: ['kernel', 'output', 'error'],
          rows: errors.map(({ kernel, output, worstScaledError }) => [
            kernel,
            output,
            Number(worstScaledError.toPrecision(3)),
          ]),
        }}
      />
    </section>
  );
}

/** What each figure is, on which machine it was measured, and what the page cannot know. */
function Sources({
  run,
  bench,
  documented,
  onBench,
}: {
  run: BenchRun | null;
  bench: ServerBench | undefined;
  documented: DocumentedSpeed | undefined;
  onBench: (bench: ServerBench) => void;
}) {
  const [problem, setProblem] = useState('');
  const paste = (text: string) => {
    try {
      onBench(parseServerBench(text));
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <section class="bench-sources house-text">
      <h2>What the figures are</h2>
      <TerminalText section="bench" />
      <p class="muted">
        This browser: {cleanText(navigator.userAgent)}, {countText(navigator.hardwareConcurrency)} logical processors.
        {run &&
          ` Clock: steps of ${plain(run.clockMs, 2)} ms, ${plain((100 * run.clockMs) / run.sliceMs, 2)} % of a round of ${plain(run.sliceMs, 3)} ms.`}
        {documented && ` Documented machine: ${documented.machine}; ${documented.workloads.join('; ')}.`}
        {bench && ` zomma bench: ${bench.machine}.`}
      </p>
      <label>
        Output of <code>zomma bench --json</code>
        <input
          type="text"
          data-paste
          onInput={(event) => event.currentTarget.value.trim() !== '' && paste(event.currentTarget.value)}
        />
      </label>
      {problem && <p class="problem">{problem}</p>}
    </section>
  );
}

/** The result in the form of `zomma bench --json`. */
function jsonOf({ times, accuracy, clockMs }: BenchRun): string {
  const machine = {
    browser: navigator.userAgent,
    logical_processors: navigator.hardwareConcurrency,
    clock_step_ms: clockMs,
  };
  const speed = times.map(({ kernel, unit, ns, spread, n }) => ({ kernel, unit, ns, spread, rounds: n }));
  return JSON.stringify({ machine, speed, accuracy: accuracy?.errors });
}
