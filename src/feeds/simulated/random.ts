/**
 * Returns the MurmurHash3 of up to four numbers, 32 bits (Austin Appleby, public domain). Random numbers are hashes of their purpose (seed,
 * ticker, day, contract), so any state of the simulation can be computed without earlier ones.
 */
export function hash(a: number, b = 0, c = 0, d = 0): number {
  let h = mixed(mixed(mixed(mixed(0, a), b), c), d);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function mixed(h: number, key: number): number {
  let k = Math.imul(key | 0, 0xcc9e2d51);
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  const x = h ^ k;
  return (Math.imul((x << 13) | (x >>> 19), 5) + 0xe6546b64) | 0;
}

/** Returns a number that represents a text in a hash. */
export function textKey(text: string): number {
  let key = 0;
  for (const character of text) key = hash(key, character.charCodeAt(0));
  return key;
}

/** Returns a number that represents a day, `YYYY-MM-DD`, in a hash. */
export function dateKey(date: string): number {
  return Number(date.replaceAll('-', ''));
}

/** Returns a uniform random number in (0, 1). */
export function uniform(a: number, b = 0, c = 0, d = 0): number {
  return (hash(a, b, c, d) + 0.5) / 2 ** 32;
}

/** Returns a standard normal random number (Box-Muller method). */
export function normal(a: number, b = 0, c = 0): number {
  const h = hash(a, b, c);
  const radius = Math.sqrt(-2 * Math.log((h + 0.5) / 2 ** 32));
  return radius * Math.cos(2 * Math.PI * uniform(h, 1));
}

/** A sequence of random numbers for one purpose. */
export interface Random {
  uniform(): number;
  normal(): number;
  /** Picks an entry. The probability of an entry is proportional to its weight. */
  pick<Entry>(entries: readonly Entry[], weightOf: (entry: Entry) => number): Entry;
}

/** Creates the sequence of random numbers for a purpose. Up to three numbers identify a purpose. */
export function randomOf(a: number, b = 0, c = 0): Random {
  const start = hash(a, b, c);
  let drawn = 0;
  const draw = () => uniform(start, drawn++);
  return {
    uniform: draw,
    normal: () => normal(start, drawn++),
    pick(entries, weightOf) {
      let left = draw() * entries.reduce((sum, entry) => sum + weightOf(entry), 0);
      for (const entry of entries) {
        left -= weightOf(entry);
        if (left < 0) return entry;
      }
      return entries.at(-1)!;
    },
  };
}
