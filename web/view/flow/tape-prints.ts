import { type FlowGroup, flowKeyText } from '../../chart/flow-shapes.ts';
import type { SignedPrints } from '../../data/page-answers.ts';
import { cleanText, newYorkIsoDate, price, strikeText, UNKNOWN } from '../../page-format.ts';

/** Returns the prints of an answer as rows, newest first. */
export function tapePrints(body: SignedPrints) {
  return body.at.map((at, i) => ({
    at,
    contract: `${cleanText(body.root[i])} ${flowKeyText(body.expiry[i]!, 'expiry', true)} ${strikeText(body.strike[i])} ${cleanText(body.put_call[i])}`,
    expiry: cleanText(body.expiry[i]),
    price: body.price[i]!,
    quote: body.bid[i] == null && body.ask[i] == null ? UNKNOWN : `${price(body.bid[i])} / ${price(body.ask[i])}`,
    size: body.size[i]!,
    premium: body.premium[i]!,
    aggressor: cleanText(body.aggressor[i]),
    signed_by: cleanText(body.signed_by[i]),
    manner: cleanText(body.manner[i]),
    delta: body.delta[i] ?? null,
  }));
}

/** A print (one option trade) of the tape. */
export type TapePrint = ReturnType<typeof tapePrints>[number];

/** The filter of the list of prints, which selects the prints of one row of the flow chart. */
export interface TapeFilter {
  readonly group: FlowGroup;
  readonly key: string;
  readonly text: string;
}

export function isOfFilter(print: TapePrint, { group, key }: TapeFilter): boolean {
  if (group === 'day') return newYorkIsoDate(print.at) === key;
  return (group === 'manner' ? print.manner : print.expiry) === key;
}
