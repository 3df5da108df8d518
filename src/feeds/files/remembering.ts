/** What was asked for before is not worked out again; `key` is cells, a line each. Bounded: cells come from outside. */
export function remembering<T>(work: (cells: readonly string[]) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (key.length > KEY_CHARS_MAX) return work(key.split('\n'));
    let value = known.get(key);
    if (value === undefined) {
      // Of text of its own: what is kept of a cell keeps the whole piece that it was cut from.
      value = work(Buffer.from(key).toString().split('\n'));
      if (known.size >= REMEMBERED_MAX) known.clear();
      known.set(key, value);
    }
    return value;
  };
}

/** Longer cells than any of market data would fill the memory that these rows share. */
export const KEY_CHARS_MAX = 200;
/** More than the contracts of a day's tape that trade often. */
export const REMEMBERED_MAX = 50_000;
