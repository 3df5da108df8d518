import { plainName, SIDE_FIELDS, type SideField, USUAL_NAMES } from './mapping.ts';

/** The columns of the call and of the put by field, if one row has both. */
export interface WideColumns {
  readonly call: ReadonlyMap<SideField, number>;
  readonly put: ReadonlyMap<SideField, number>;
  /** All columns of a side, also those without a use. */
  readonly all: ReadonlySet<number>;
}

/** The words for the two sides in names of columns. Those of one or two letters count only before or after a mark. */
const WORDS = [
  ['calls', 'puts'],
  ['call', 'put'],
  ['ce', 'pe'],
  ['c', 'p'],
] as const;

/** Number of characters of a name that count. */
const NAME_CHARS_MAX = 200;

/** What the rest of a name looks like that vendors abbreviate. */
const LIKELY: readonly (readonly [SideField, RegExp])[] = [
  ['open_interest', /^oi$|open.?int/],
  ['bid', /^(?:best)?bid(?:px|price)?$/],
  ['ask', /^(?:best)?(?:ask|offer|ofr)(?:px|price)?$/],
  ['last', /^(?:last|ltp)(?:px|price)?$/],
  ['volume', /^vol(?:ume)?$|volume$/],
  ['iv', /^(?:mid)?(?:iv|implied.*|imp.?vol.*)$/],
];

/**
 * Returns the columns of a table whose names differ only in the word for the side, such as `Call Bid` and `Put Bid`, `C_BID` and `P_BID` or
 * `bid_ce` and `bid_pe`. Returns `undefined` if fewer than two fields have such columns.
 */
export function wideColumns(names: readonly string[]): WideColumns | undefined {
  const found = WORDS.flatMap(([call, put]) =>
    [true, false].map((isFirst) => {
      const [calls, puts] = [restsOf(names, call, isFirst), restsOf(names, put, isFirst)];
      const common = [...calls.keys()].filter((rest) => puts.has(rest));
      const fields = SIDE_FIELDS.flatMap((field) => {
        const rest = restFor(field, common);
        return rest === undefined ? [] : [[field, rest] as const];
      });
      const columns = (rests: ReadonlyMap<string, number>) =>
        new Map(fields.map(([field, rest]) => [field, rests.get(rest)!]));
      const all = new Set(common.flatMap((rest) => [calls.get(rest)!, puts.get(rest)!]));
      return { call: columns(calls), put: columns(puts), all };
    }),
  );
  const best = found.toSorted((a, b) => b.call.size - a.call.size)[0]!;
  return best.call.size >= 2 ? best : undefined;
}

/** Returns the columns whose names begin or end with a word, by the rest of the name. */
function restsOf(names: readonly string[], word: string, isFirst: boolean): Map<string, number> {
  const mark = word.length > 2 ? '[^a-z0-9]*' : '[^a-z0-9]+';
  const pattern = isFirst ? `^[^a-z0-9]*${word}${mark}(.+)$` : `^(.+?)${mark}${word}[^a-z0-9]*$`;
  const restOf = (name: string) => new RegExp(pattern, 'i').exec(name.slice(0, NAME_CHARS_MAX))?.[1]?.toLowerCase();
  const rests = names.map((name, i) => [restOf(name), i] as const);
  return new Map(rests.filter((each): each is [string, number] => each[0] !== undefined).reverse());
}

function restFor(field: SideField, rests: readonly string[]): string | undefined {
  // Of a nested JSON value, the last key is the name.
  const plain = rests.map((rest) => plainName(rest.split('.').at(-1)!));
  const usual = USUAL_NAMES[field]!.map((name) => plain.indexOf(name)).find((i) => i >= 0);
  const likely = LIKELY.find(([each]) => each === field)?.[1];
  return rests[usual ?? (likely ? plain.findIndex((name) => likely.test(name)) : -1)];
}
