/**
 * OPRA's sale conditions, as OPRA's four letters, by their numbers in Massive's glossary of option trade conditions
 * (`/v3/reference/conditions?asset_class=options`). A number that is not listed here has no effect.
 */
export const OPRA_CONDITIONS: ReadonlyMap<unknown, string> = new Map([
  ...numbered(201, 'canc oseq cncl late cnco open cnol opnl auto reop'),
  ...numbered(219, 'isoi'),
  ...numbered(227, 'slan slai slcn slci slft mlet mlat mlct mlft mesl tlat masl mfsl tlet tlct tlft tesl tasl tfsl'),
  ...numbered(246, 'cbmo mctp exht'),
]);

function numbered(from: number, conditions: string): [number, string][] {
  return conditions.split(' ').map((condition, i) => [from + i, condition]);
}
