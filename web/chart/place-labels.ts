/** A label at a position along an axis, in pixels. */
export interface LabelPlace {
  /** Position of the value that the label names, in pixels. */
  readonly at: number;
  /** Length of the label in the direction of the axis, in pixels. */
  readonly size: number;
}

/**
 * Returns the center of each label, in the order of `labels`. No two labels overlap, and each label is as close to its value as possible.
 * If there is enough space, all labels lie within [from, to]. The labels are in the same order as their values. Labels that touch form a
 * block and move together. The position of a block minimizes the sum of the squared distances between the labels and their values.
 */
export function placeLabels(labels: readonly LabelPlace[], from: number, to: number, gap = 2): number[] {
  const order = labels.map((_, i) => i).toSorted((a, b) => labels[a]!.at - labels[b]!.at);
  const blocks: { members: number[]; size: number; wanted: number; start: number }[] = [];
  for (const index of order) {
    const { at, size } = labels[index]!;
    const length = size + gap;
    // Each label is centered at its value for one start position of the block. `wanted` is the sum of these start positions over all
    // labels.
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
