/** A shape of a canvas chart, as data that tests can check without a browser. Positions are CSS pixels from the upper left corner. */
export type Stroke =
  | {
      readonly kind: 'bar';
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      readonly tone: Tone;
      readonly fill: 'solid' | 'hatched' | 'outline';
    }
  | {
      readonly kind: 'line';
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly tone: Tone;
      readonly width: number;
      readonly dash: 'solid' | 'dashed' | 'dotted';
    };

/** Colour names by meaning. The hue shows only the sign of a value. */
export const TONES = ['positive', 'negative', 'text', 'muted', 'line', 'band'] as const;
export type Tone = (typeof TONES)[number];
export type Colors = Readonly<Record<Tone, string>>;

const DASHES = { solid: [], dashed: [7, 5], dotted: [1.5, 4] } as const;
const HATCH = [3, 1.5] as const;

/** Returns the colours of the current theme from the CSS custom properties of an element. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  return Object.fromEntries(TONES.map((tone) => [tone, style.getPropertyValue(`--${tone}`).trim()])) as Colors;
}

/**
 * Clears a canvas and draws the strokes on it. The caller must have set the canvas's transform to CSS pixels. Strokes before the first
 * hatched bar in the list are drawn beneath all hatched bars and all later strokes.
 */
export function paint(
  context: CanvasRenderingContext2D,
  strokes: readonly Stroke[],
  colors: Colors,
  { width, height }: { width: number; height: number },
): void {
  context.clearRect(0, 0, width, height);
  const isHatched = (stroke: Stroke) => stroke.kind === 'bar' && stroke.fill === 'hatched';
  const first = Math.max(0, strokes.findIndex(isHatched));
  const draw = (each: Stroke) => drawStroke(context, each, colors[each.tone]);
  const hatched = strokes.filter(isHatched);
  if (hatched.length > 0) {
    hatched.forEach(draw);
    // A single fill operation cuts the gaps into all hatched bars, because drawing a thousand dashed lines takes four times as long.
    context.globalCompositeOperation = 'destination-out';
    context.fillStyle = context.createPattern(gaps(), 'repeat')!;
    context.fillRect(0, 0, width, height);
    context.globalCompositeOperation = 'source-over';
  }
  for (const stroke of strokes.slice(first)) if (!isHatched(stroke)) draw(stroke);
  context.globalCompositeOperation = 'destination-over';
  strokes.slice(0, first).reverse().forEach(draw);
  context.globalCompositeOperation = 'source-over';
}

function drawStroke(context: CanvasRenderingContext2D, stroke: Stroke, color: string): void {
  if (stroke.kind === 'line') {
    context.strokeStyle = color;
    context.lineWidth = stroke.width;
    context.setLineDash(DASHES[stroke.dash] as unknown as number[]);
    context.beginPath();
    context.moveTo(stroke.x1, stroke.y1);
    context.lineTo(stroke.x2, stroke.y2);
    context.stroke();
  } else if (stroke.fill === 'outline') {
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.setLineDash([]);
    context.strokeRect(stroke.x, stroke.y, stroke.width, stroke.height);
  } else {
    context.fillStyle = color;
    context.fillRect(stroke.x, stroke.y, stroke.width, stroke.height);
  }
}

/** Returns a pattern tile with two periods of the hatching. The tile is opaque where the hatching has gaps. */
function gaps(): OffscreenCanvas {
  const [dash, gap] = HATCH;
  const tile = new OffscreenCanvas(2 * (dash + gap), 1);
  const context = tile.getContext('2d')!;
  context.fillRect(dash, 0, gap, 1);
  context.fillRect(2 * dash + gap, 0, gap, 1);
  return tile;
}
