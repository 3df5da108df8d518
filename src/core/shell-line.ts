/** Returns words as a line for a shell. Words with special characters are in quotation marks, in double ones if every shell takes them. */
export function shellLine(...words: readonly string[]): string {
  return words
    .map((word) => {
      if (/^[\w./:@%+=,-]+$/.test(word)) return word;
      return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
    })
    .join(' ');
}
