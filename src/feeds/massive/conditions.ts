/**
 * The numbers under which Massive's glossary of option trade conditions (`/v3/reference/conditions?asset_class=options`) lists OPRA's
 * sale conditions, by OPRA's four letters. A number that is not here says nothing of a trade.
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
