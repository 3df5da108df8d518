/** Returns the least and the largest of some numbers: infinity and -infinity if there are none. */
export function extentOf(numbers: Float64Array): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const each of numbers) {
    if (each < low) low = each;
    if (each > high) high = each;
  }
  return [low, high];
}
