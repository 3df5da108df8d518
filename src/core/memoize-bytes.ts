/**
 * Returns a function that calls `compute` with the text of the bytes [from, to) and caches the results by these bytes. A repeated text is
 * not decoded again. When the cache contains `entriesMax` results, it is emptied. Texts of more than KEY_BYTES_MAX bytes are not cached.
 * Both bounds limit the memory, because strangers may have written the texts.
 */
export function memoizeBytes<T>(
  entriesMax: number,
  compute: (text: string) => T,
): (bytes: Uint8Array, from: number, to: number) => T {
  const entries = new Map<number, { readonly key: Uint8Array; readonly value: T }>();
  let last: { readonly key: Uint8Array; readonly value: T } | undefined;
  return (bytes, from, to) => {
    if (last !== undefined && isEqual(last.key, bytes, from, to)) return last.value;
    if (to - from > KEY_BYTES_MAX) return compute(textIn(bytes, from, to));
    const hash = hashOf(bytes, from, to);
    const known = entries.get(hash);
    if (known !== undefined && isEqual(known.key, bytes, from, to)) {
      last = known;
      return known.value;
    }
    last = { key: new Uint8Array(bytes.subarray(from, to)), value: compute(textIn(bytes, from, to)) };
    if (entries.size >= entriesMax) entries.clear();
    // Of texts with the same hash, the cache has the newest text only. So a file of such texts cannot make the look-up slow.
    entries.set(hash, last);
    return last.value;
  };
}

/** Maximum length of a cached text, bytes. Cells that repeat, such as symbols and dates, are shorter. */
const KEY_BYTES_MAX = 200;

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes the bytes [from, to) as UTF-8. Invalid bytes become `U+FFFD`. */
export function textIn(bytes: Uint8Array, from: number, to: number): string {
  for (let at = from; at < to; at++) if (bytes[at]! >= 0x80) return UTF8.decode(bytes.subarray(from, to));
  return latin1In(bytes, from, to);
}

/** Decodes the bytes [from, to) as Latin-1. Each byte becomes one character. */
export function latin1In(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.prototype.latin1Slice.call(bytes, from, to);
}

function isEqual(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (key.length !== to - from) return false;
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[from + i]) return false;
  return true;
}

/** Returns the FNV-1a hash of the bytes [from, to), a 32-bit integer. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = -2_128_831_035;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 16_777_619);
  return hash;
}
