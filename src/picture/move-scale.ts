/**
 * The scale converts moves of spot to positions on the horizontal axis of a bar chart. The slots of all moves have the same width, so that
 * every bar has room, even if moves are close to each other. Between the middles of two slots, the scale is linear.
 */
export class MoveScale {
  /** Width of a slot, pixels. */
  readonly slot: number;
  /** Moves in percent in ascending order, with positions in pixels. If all moves have the same sign, move 0 (the present spot) is added. */
  private readonly knots: readonly (readonly [move: number, x: number])[];

  /** The moves are in percent and in ascending order. */
  constructor(
    moves: readonly number[],
    private readonly left: number,
    right: number,
  ) {
    this.slot = (right - left) / moves.length;
    const knots = moves.map((move, i): [number, number] => [move, this.center(i)]);
    // If all moves have the same sign, the present spot is at the edge of the plot next to the move nearest to 0.
    if (moves[0]! > 0) knots.unshift([0, left]);
    if (moves.at(-1)! < 0) knots.push([0, right]);
    this.knots = knots;
  }

  /** Returns the middle of a move's slot. The argument `index` is the index of the move in the list. */
  center(index: number): number {
    return this.left + (index + 0.5) * this.slot;
  }

  /** Returns the position of a move (percent). Returns `undefined` if the move is less than the first or greater than the last move. */
  x(move: number): number | undefined {
    const after = this.knots.findIndex(([each]) => each >= move);
    if (after < 0) return undefined;
    const [end, endX] = this.knots[after]!;
    if (end === move) return endX;
    const before = this.knots[after - 1];
    return before && before[1] + ((move - before[0]) / (end - before[0])) * (endX - before[1]);
  }
}

/**
 * Places labels in one row between `left` and `right`, and returns the left ends of the labels. Each label is centred on its position `x`
 * if there is room. Labels with less than `gap` between them are moved apart. `labels` must be in the order of their positions, and fit in
 * the row.
 */
export function placed(
  labels: readonly { readonly x: number; readonly width: number }[],
  left: number,
  right: number,
  gap: number,
): number[] {
  const lefts = labels.map(({ x, width }) => Math.max(left, Math.min(right - width, x - width / 2)));
  for (let i = 1; i < labels.length; i++) {
    const missing = lefts[i - 1]! + labels[i - 1]!.width + gap - lefts[i]!;
    if (missing <= 0) continue;
    const back = Math.min(missing / 2, lefts[i - 1]! - left);
    lefts[i] = Math.min(lefts[i]! + missing - back, right - labels[i]!.width);
    lefts[i - 1] = lefts[i]! - gap - labels[i - 1]!.width;
  }
  return lefts;
}
