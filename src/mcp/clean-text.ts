/** Of one text, in characters: names, notes and refusals are shorter; what is longer would talk to the agent in the operator's place. */
const TEXT_MAX = 2_000;

/**
 * What agents read may come from a provider or a file's name. Left out is what a person would not see: control characters, marks
 * that turn the direction of writing, characters without width, and tags, in which text can hide.
 */
const UNSEEN = /(?:[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]|\p{Variation_Selector})+/gu;

/** The same value with every text in it cleaned and cut to its bound. Names of fields are ours and stay. */
export function cleaned<Value>(value: Value): Value {
  if (typeof value === 'string') return cleanText(value) as Value;
  if (Array.isArray(value)) return typeof value[0] === 'number' ? value : (value.map(cleaned) as Value);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each)])) as Value;
}

function cleanText(text: string): string {
  const seen = text.replace(UNSEEN, ' ').trim();
  return seen.length <= TEXT_MAX ? seen : `${seen.slice(0, TEXT_MAX).trimEnd()}…`;
}
