const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns a duration such as `90s`, `1h` or `7d` in ms. Returns undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, number, unit] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * UNIT_MS[unit!]!;
}
