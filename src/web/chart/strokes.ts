/** What a chart on a canvas draws, as data: tests read it without a browser. Lengths are CSS pixels from the upper left corner. */
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

/** Colours by meaning. Hue means sign and nothing else. */
export const TONES = ['positive', 'negative', 'text', 'muted', 'line', 'band'] as const;
export type Tone = (typeof TONES)[number];
export type Colors = Readonly<Record<Tone, string>>;

const DASHES = { solid: [], dashed: [7, 5], dotted: [1.5, 4] } as const;
const HATCH = [3, 1.5] as const;

/** Reads the colours of the present theme from the custom properties of an element. */
export function colorsOf(element: Element): Colors {
  const style = getComputedStyle(element);
  return Object.fromEntries(TONES.map((tone) => [tone, style.getPropertyValue(`--${tone}`).trim()])) as Colors;
}

/** Draws strokes on a canvas whose transform is set to CSS pixels. Clears it first. */
export function paint(
  context: CanvasRenderingContext2D,
  strokes: readonly Stroke[],
  colors: Colors,
  { width, height }: { width: number; height: number },
): void {
  context.clearRect(0, 0, width, height);
  for (const stroke of strokes) {
    if (stroke.kind === 'line') {
      context.strokeStyle = colors[stroke.tone];
      context.lineWidth = stroke.width;
      context.setLineDash(DASHES[stroke.dash] as unknown as number[]);
      context.beginPath();
      context.moveTo(stroke.x1, stroke.y1);
      context.lineTo(stroke.x2, stroke.y2);
      context.stroke();
    } else if (stroke.fill === 'solid') {
      context.fillStyle = colors[stroke.tone];
      context.fillRect(stroke.x, stroke.y, stroke.width, stroke.height);
    } else if (stroke.fill === 'outline') {
      context.strokeStyle = colors[stroke.tone];
      context.lineWidth = 1;
      context.setLineDash([]);
      context.strokeRect(stroke.x, stroke.y, stroke.width, stroke.height);
    } else {
      // A hatched bar is one dashed line as thick as the bar, which is faster than a pattern.
      context.strokeStyle = colors[stroke.tone];
      context.lineWidth = stroke.height;
      context.setLineDash(HATCH as unknown as number[]);
      context.beginPath();
      context.moveTo(stroke.x, stroke.y + stroke.height / 2);
      context.lineTo(stroke.x + stroke.width, stroke.y + stroke.height / 2);
      context.stroke();
    }
  }
  context.setLineDash([]);
}
