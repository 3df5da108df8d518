import { change, middleOf, type Print } from '../../market/prints.ts';
import { BY_CONTRACT, type TapeSums } from '../../market/tape-sums.ts';

/** A print with the side that started it. */
export interface SignedPrint {
  readonly print: Print;
  /** +1 where a customer bought, -1 where a customer sold, 0 where nothing tells. */
  readonly aggressor: 1 | -1 | 0;
  readonly by: SideRule;
}

/** What told the side. */
export type SideRule = 'feed' | 'quote' | 'tick' | 'unknown';

/**
 * Signs prints (in time order) by the first that tells: the feed; the quote they met, since who pays more than its middle bought
 * and who takes less sold; the contract's last move, a rise being a purchase (Lee and Ready 1991). For options the quote rule is the
 * best of the simple ones (Savickas and Wilson 2003). The aggressor is taken to be the customer.
 *
 * A move is one of the quote's middle where both prints have a quote, else of the price. By prices alone a trade at the middle after a
 * purchase would always be a sale: it is cheaper for the half spread that the purchase paid, and purchases follow purchases.
 *
 * `moves` is where contracts were before. Stored tapes are signed as they are added up, by the same rules: see TapeSums.
 */
export function* signPrints(prints: Iterable<Print>, moves: Moves = new Map()): Generator<SignedPrint, void> {
  for (const print of prints) yield signed(print, moves);
}

/** Where contracts were at their last print, by their key. */
export type Moves = Map<string, Move>;

/** Where contracts are at the end of what was added up. */
export function movesOf({ contracts, byContract }: TapeSums): Moves {
  const moves: Moves = new Map();
  for (let contract = 0, at = 0; contract < contracts.strike.length; contract++, at += BY_CONTRACT.width) {
    const middle = byContract[at + BY_CONTRACT.lastMiddle]!;
    moves.set(
      contractKey({ ...contracts.series[contracts.seriesIndex[contract]!]!, strike: contracts.strike[contract]! }),
      {
        price: byContract[at + BY_CONTRACT.lastPrice]!,
        middle: Number.isNaN(middle) ? undefined : middle,
        direction: byContract[at + BY_CONTRACT.direction] as Direction,
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
  const beside = middle === undefined ? 0 : change(middle, print.price);
  if (beside !== 0) return { print, aggressor: beside, by: 'quote' };
  return { print, aggressor: move, by: move === 0 ? 'unknown' : 'tick' };
}

/** Where a contract was at its last print, and which way it came there. */
interface Move {
  price: number;
  middle: number | undefined;
  direction: Direction;
}

type Direction = SignedPrint['aggressor'];

function nextMove(moves: Moves, print: Print, middle: number | undefined): Direction {
  const key = contractKey(print);
  const { price } = print;
  const last = moves.get(key);
  if (last === undefined) {
    moves.set(key, { price, middle, direction: 0 });
    return 0;
  }
  const moved =
    middle !== undefined && last.middle !== undefined ? change(last.middle, middle) : change(last.price, price);
  last.direction = moved || last.direction;
  last.price = price;
  last.middle = middle;
  return last.direction;
}

/** Tells contracts of one underlying apart. */
export function contractKey({
  root,
  expiry,
  callPut,
  strike,
}: Pick<Print, 'root' | 'expiry' | 'strike'> & { callPut: number }): string {
  return `${root} ${expiry} ${callPut} ${strike}`;
}
