import { change, middleOf, type Print } from '../../market/prints.ts';
import { BY_CONTRACT, type TapeSums } from '../../market/tape-sums.ts';

/** A print, and the side (buyer or seller) that started the trade. */
export interface SignedPrint {
  readonly print: Print;
  /** +1 if a customer bought, -1 if a customer sold, 0 if unknown. */
  readonly aggressor: 1 | -1 | 0;
  readonly by: SideRule;
}

/** The rule that determined the side of a print. */
export type SideRule = 'feed' | 'quote' | 'tick' | 'unknown';

/**
 * Determines the side that started each trade, which counts as the customer, from prints in time order and by the first rule that applies:
 * 1. the feed's side, 2. the quote at the print (above its middle is a purchase, below a sale), 3. the last move of the contract (a rise is
 * a purchase, a fall a sale; Lee and Ready 1991). For options, the quote rule is the most accurate simple rule (Savickas and Wilson 2003).
 * A move is a change of the quote's middle between two successive prints with quotes, or else of the price. By price alone, a trade at the
 * middle after a purchase would count as a sale, although purchases tend to follow purchases. `moves`, the last price and move of each
 * contract so far, is updated. `TapeSums` applies the same rules to stored tapes.
 */
export function* signPrints(prints: Iterable<Print>, moves: Moves = new Map()): Generator<SignedPrint, void> {
  for (const print of prints) yield signed(print, moves);
}

/** The last price and the last move of each contract, by `contractKey`. */
export type Moves = Map<string, Move>;

/** Returns each contract's last price and last move after a summed tape. */
export function movesOf({ contracts, byContract }: TapeSums): Moves {
  const moves: Moves = new Map();
  for (let contract = 0, offset = 0; contract < contracts.strike.length; contract++, offset += BY_CONTRACT.width) {
    const middle = byContract[offset + BY_CONTRACT.lastMiddle]!;
    moves.set(
      contractKey({ ...contracts.series[contracts.seriesIndex[contract]!]!, strike: contracts.strike[contract]! }),
      {
        price: byContract[offset + BY_CONTRACT.lastPrice]!,
        middle: Number.isNaN(middle) ? undefined : middle,
        direction: byContract[offset + BY_CONTRACT.direction] as Direction,
      },
    );
  }
  return moves;
}

function signed(print: Print, moves: Moves): SignedPrint {
  const middle = middleOf(print);
  const move = nextMove(moves, print, middle);
  if (print.side === 'ask') return { print, aggressor: 1, by: 'feed' };
  if (print.side === 'bid') return { print, aggressor: -1, by: 'feed' };
  const quoteSide = middle === undefined ? 0 : change(middle, print.price);
  if (quoteSide !== 0) return { print, aggressor: quoteSide, by: 'quote' };
  return { print, aggressor: move, by: move === 0 ? 'unknown' : 'tick' };
}

/** The last move of a contract: the price and the quote's middle at the last print, and the direction of the last change. */
interface Move {
  price: number;
  middle: number | undefined;
  direction: Direction;
}

type Direction = SignedPrint['aggressor'];

/** Updates the last move of a print's contract, and returns the direction of the move. */
function nextMove(moves: Moves, print: Print, middle: number | undefined): Direction {
  const key = contractKey(print);
  const { price } = print;
  const last = moves.get(key);
  if (last === undefined) {
    moves.set(key, { price, middle, direction: 0 });
    return 0;
  }
  const latest =
    middle !== undefined && last.middle !== undefined ? change(last.middle, middle) : change(last.price, price);
  last.direction = latest || last.direction;
  last.price = price;
  last.middle = middle;
  return last.direction;
}

/** Returns a key that is unique among the contracts of one underlying. */
export function contractKey(contract: Pick<Print, 'root' | 'expiry' | 'strike'> & { callPut: number }): string {
  return `${contract.root} ${contract.expiry} ${contract.callPut} ${contract.strike}`;
}
