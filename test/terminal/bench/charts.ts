import uPlot from 'uplot';
import { type LadderRows, ladderBars, ladderExtent } from '../../../web/chart/ladder-strokes.ts';
import { priceAxis } from '../../../web/chart/price-axis.ts';
import { type Colors, paint } from '../../../web/chart/strokes.ts';

/** Runs in the browser: draws the same bars with the ladder and with uPlot, by turns, and returns the times in ms. */

const SIZE = { width: 700, height: 1200 };
const COLORS: Colors = {
  positive: '#58a6ff',
  negative: '#f5a142',
  text: '#fff',
  muted: '#999',
  line: '#333',
  band: '#222',
};

/** The milliseconds of a drawing: of its script, until its pixels can be read, and from one frame with a drawing to the next. */
interface Times {
  readonly script: number[];
  readonly pixels: number[];
  readonly frame: number[];
}

const noTimes = (): Times => ({ script: [], pixels: [], frame: [] });

function made(count: number, seed: number): LadderRows {
  let state = seed;
  const random = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  const strike = Array.from({ length: count }, (_, i) => 500 + (200 * i) / count);
  return { strike, calls: strike.map(() => random() * 1e9), puts: strike.map(() => -random() * 1e9) };
}

function canvasOf(): CanvasRenderingContext2D {
  const canvas = document.createElement('canvas');
  canvas.width = SIZE.width;
  canvas.height = SIZE.height;
  document.body.append(canvas);
  return canvas.getContext('2d')!;
}

async function timed(times: Times, draw: () => CanvasRenderingContext2D): Promise<void> {
  const from = performance.now();
  const context = draw();
  // uPlot draws in a microtask.
  for (let i = 0; i < 3; i++) await Promise.resolve();
  times.script.push(performance.now() - from);
  context.getImageData(0, 0, 1, 1);
  times.pixels.push(performance.now() - from);
}

/** Draws in each of some frames. A canvas whose pixels were read is drawn otherwise, so `draw` has a canvas of its own. */
async function timedFrames(times: Times, rounds: number, draw: (i: number) => void): Promise<void> {
  let last = 0;
  for (let i = 0; i < rounds + WARM_UP; i++) {
    const now = await new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    if (i > WARM_UP) times.frame.push(now - last);
    last = now;
    draw(i);
  }
}

const WARM_UP = 3;

/** Draws `rounds` times with each, alternately, and then `frames` frames with each. */
async function compareLadder(count: number, rounds: number, frames: number): Promise<{ ladder: Times; uplot: Times }> {
  const axis = priceAxis(600, 17, 0, SIZE.height);
  const data = [made(count, 1), made(count, 2)];
  const ladder = () => {
    const context = canvasOf();
    return (i: number) => {
      const rows = data[i % 2]!;
      const extent = ladderExtent([rows], axis);
      paint(context, ladderBars(rows, { axis, left: 44, right: SIZE.width, extent }), COLORS, SIZE);
      return context;
    };
  };
  const bars = uPlot.paths.bars!({ size: [0.7, 14] });
  const columns = (rows: LadderRows): uPlot.AlignedData => [
    rows.strike as number[],
    rows.calls as number[],
    rows.puts as number[],
  ];
  const uplot = () => {
    const plot = new uPlot(
      {
        width: SIZE.height,
        height: SIZE.width,
        scales: { x: { time: false } },
        legend: { show: false },
        cursor: { show: false },
        series: [{}, { fill: COLORS.positive, paths: bars }, { fill: COLORS.negative, paths: bars }],
      },
      columns(data[0]!),
      document.body,
    );
    return (i: number) => {
      plot.setData(columns(data[i % 2]!));
      return plot.ctx;
    };
  };
  const result = { ladder: noTimes(), uplot: noTimes() };
  const draw = { ladder: ladder(), uplot: uplot() };
  for (let i = 0; i < rounds + WARM_UP; i++) {
    const times = i < WARM_UP ? { ladder: noTimes(), uplot: noTimes() } : result;
    await timed(times.ladder, () => draw.ladder(i));
    await timed(times.uplot, () => draw.uplot(i));
  }
  if (frames > 0) {
    document.body.replaceChildren();
    await timedFrames(result.ladder, frames, ladder());
    document.body.replaceChildren();
    await timedFrames(result.uplot, frames, uplot());
  }
  return result;
}

Object.assign(globalThis, { compareLadder });
