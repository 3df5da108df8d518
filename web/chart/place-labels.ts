/** A label at a position along an axis, pixels. */
export interface LabelPlace {
  /** Where the mark of the label is. */
  readonly at: number;
  /** The length of the label along the axis. */
  readonly size: number;
}

/**
 * Returns the centers of labels, in the order given, so that no two labels overlap and each is as near its mark as that allows. All labels
 * lie within [from, to] if they fit. Labels keep the order of their marks.
 *
 * Blocks of touching labels move together: the center of a block is the mean of what its labels would like, the least-squares solution.
 */
export function placeLabels(labels: readonly LabelPlace[], from: number, to: number, gap = 2): number[] {
  const order = labels.map((_, i) => i).toSorted((a, b) => labels[a]!.at - labels[b]!.at);
  const blocks: { members: number[]; size: number; wanted: number; start: number }[] = [];
  for (const index of order) {
    const { at, size } = labels[index]!;
    const length = size + gap;
    // `wanted` sums the start that each member would like the block to have.
    let block = { members: [index], size: length, wanted: at - length / 2, start: 0 };
    block.start = bounded(block.wanted, from, to - block.size);
    for (let before = blocks.at(-1); before && before.start + before.size > block.start; before = blocks.at(-1)) {
      blocks.pop();
      const members = [...before.members, ...block.members];
      const wanted = before.wanted + block.wanted - block.members.length * before.size;
      const merged = { members, size: before.size + block.size, wanted, start: 0 };
      merged.start = bounded(wanted / members.length, from, to - merged.size);
      block = merged;
    }
    blocks.push(block);
  }
  const centers = new Array<number>(labels.length);
  for (const { members, start } of blocks) {
    let top = start;
    for (const index of members) {
      const length = labels[index]!.size + gap;
      centers[index] = top + length / 2;
      top += length;
    }
  }
  return centers;
}

function bounded(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
