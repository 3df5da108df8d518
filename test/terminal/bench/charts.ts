import uPlot from 'uplot';
import { type LadderRows, ladderBars, ladderExtent } from '../../../src/web/chart/ladder-strokes.ts';
import { priceAxis } from '../../../src/web/chart/price-axis.ts';
import { type Colors, paint } from '../../../src/web/chart/strokes.ts';

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

/** The milliseconds of a drawing: of its script, and until its pixels can be read. */
interface Times {
  readonly script: number[];
  readonly frame: number[];
}

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
  times.frame.push(performance.now() - from);
}

/** Draws `rounds` times with each, alternately. */
async function compareLadder(count: number, rounds: number): Promise<{ ladder: Times; uplot: Times }> {
  const context = canvasOf();
  const axis = priceAxis(600, 17, 0, SIZE.height);
  const data = [made(count, 1), made(count, 2)];
  const [first] = data;
  const bars = uPlot.paths.bars!({ size: [0.7, 14] });
  const columns = (rows: LadderRows): uPlot.AlignedData => [
    rows.strike as number[],
    rows.calls as number[],
    rows.puts as number[],
  ];
  const plot = new uPlot(
    {
      width: SIZE.height,
      height: SIZE.width,
      scales: { x: { time: false } },
      legend: { show: false },
      cursor: { show: false },
      series: [{}, { fill: COLORS.positive, paths: bars }, { fill: COLORS.negative, paths: bars }],
    },
    columns(first!),
    document.body,
  );
  const result = { ladder: { script: [], frame: [] } as Times, uplot: { script: [], frame: [] } as Times };
  for (let i = 0; i < rounds + 3; i++) {
    const rows = data[i % 2]!;
    const times = i < 3 ? { ladder: { script: [], frame: [] }, uplot: { script: [], frame: [] } } : result;
    await timed(times.ladder, () => {
      const extent = ladderExtent([rows], axis);
      paint(context, ladderBars(rows, { axis, left: 44, right: SIZE.width, extent }), COLORS, SIZE);
      return context;
    });
    await timed(times.uplot, () => {
      plot.setData(columns(rows));
      return plot.ctx;
    });
  }
  return result;
}

Object.assign(globalThis, { compareLadder });
