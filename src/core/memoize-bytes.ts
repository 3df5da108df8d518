/**
 * Returns a function that calls `compute` with the text of the bytes [from, to) and caches the results by these bytes. A text may take one of
 * two slots. The cache grows to `entriesMax` slots, a power of two. Strangers may have written the texts, so both bounds limit the memory.
 */
export function memoizeBytes<T>(
  entriesMax: number,
  compute: (text: string) => T,
): (bytes: Uint8Array, from: number, to: number) => T {
  let slots = Math.min(entriesMax, SLOTS_MIN);
  let entries: ({ readonly key: Uint8Array; readonly value: T } | undefined)[] = new Array(slots).fill(undefined);
  let taken = 0;
  let last: (typeof entries)[number];
  return (bytes, from, to) => {
    // Most texts repeat the text before.
    if (last !== undefined && isEqual(last.key, bytes, from, to)) return last.value;
    if (to - from > KEY_BYTES_MAX) return compute(textIn(bytes, from, to));
    const hash = hashOf(bytes, from, to);
    let slot = hash & (slots - 1);
    const first = entries[slot];
    if (first !== undefined && isEqual(first.key, bytes, from, to)) {
      last = first;
      return first.value;
    }
    const second = entries[slot ^ 1];
    if (second !== undefined && isEqual(second.key, bytes, from, to)) return second.value;
    const value = compute(textIn(bytes, from, to));
    // Of texts with the same hash, the cache has two at most. So a file of such texts cannot make the look-up slow.
    if (first !== undefined && second === undefined) slot ^= 1;
    if (entries[slot] === undefined && ++taken > slots / 2 && slots < entriesMax) {
      slots *= 2;
      taken = 1;
      entries = new Array(slots).fill(undefined);
      slot = hash & (slots - 1);
    }
    // `slice` of a Buffer would share memory with the bytes.
    last = entries[slot] = { key: new Uint8Array(bytes.subarray(from, to)), value };
    return value;
  };
}

const SLOTS_MIN = 16;

/** Maximum length of a cached text, bytes. */
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

/** Returns whether the bytes [from, to) are equal to a key. */
export function isEqual(key: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (key.length !== to - from) return false;
  for (let i = 0; i < key.length; i++) if (key[i] !== bytes[from + i]) return false;
  return true;
}

/** Returns the FNV-1a hash of the bytes [from, to), a 32-bit integer. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = -2_128_831_035;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ bytes[at]!, 16_777_619);
  // The low bits of the hash choose a slot, and the high bits are mixed better.
  return hash ^ (hash >>> 15);
}
