import { newYorkDate, previousTradingDay } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { Delivery } from '../../market/feed.ts';
import type { OptionSymbol } from '../../market/option-symbol.ts';
import { tickerOf } from '../files/roots.ts';
import { interestIn, joinKey } from './join-file.ts';
import type { JoinedValues } from './stated.ts';

/** The largest share of a chain's contracts that a second file may lack, and of its open interest that may belong to other contracts. */
const UNMATCHED_SHARE_MAX = 0.1;
/** The share of contracts that are nearest to spot, and how many of them may lack open interest: a series may be new. */
const [NEAR_SHARE, NEAR_ABSENT_SHARE_MAX, NEAR_ABSENT_MIN] = [0.1, 0.25, 5];

/** What the second file has of a chain's contracts. */
interface Matches {
  readonly day: string;
  /** The date of the rows in the second file that belong to the chain, or `undefined` if it has none of the chain's day. */
  readonly rowsDay: string | undefined;
  contracts: number;
  absent: number;
  /** The keys of the contracts that were found. */
  readonly found: Set<string>;
  /** The open interest of the contracts that were found. */
  interest: number;
}

/** Joins the values of a second file to the contracts of chains, and refuses the chains that the second file does not fit. */
export class JoinCheck {
  readonly #chains = new Map<string, Matches>();

  constructor(private readonly joined: JoinedValues) {}

  /** Returns the texts of a contract in the second file, or `undefined` if the file lacks it. `atMs` is the time of the chain. */
  textsOf(
    { root, expiry, callPut, strike }: Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>,
    atMs: number,
  ): readonly string[] | undefined {
    if (Number.isNaN(atMs)) return undefined;
    const matches = this.#chains.getOrInsertComputed(`${tickerOf(root)} ${atMs}`, () => {
      const day = newYorkDate(atMs);
      return { day, rowsDay: this.#rowsDayOf(day), contracts: 0, absent: 0, found: new Set<string>(), interest: 0 };
    });
    const key = joinKey(root, expiry, callPut, strike, matches.rowsDay);
    const texts = matches.rowsDay === undefined ? undefined : this.joined.values.get(key);
    matches.contracts++;
    if (texts === undefined) matches.absent++;
    else if (!matches.found.has(key)) {
      matches.found.add(key);
      if (expiry >= matches.day) matches.interest += interestIn(this.joined, texts);
    }
    return texts;
  }

  /** Returns a delivery, or its rejection if it is a chain that the second file does not fit. */
  checked(delivery: Delivery, origin: string): Delivery {
    if (delivery.kind !== 'chain') return delivery;
    const { chain } = delivery;
    const key = `${chain.underlying} ${chain.asOf}`;
    const matches = this.#chains.get(key);
    this.#chains.delete(key);
    const reason = matches && (this.#whyUnmatched(matches) ?? this.#whyWithoutCore(chain, matches));
    return reason === undefined ? delivery : { kind: 'rejection', origin, reason: `${chain.underlying}: ${reason}` };
  }

  /** Open interest is dated the day of the quotes, before the opening, or the session before, if the second file has one day alone. */
  #rowsDayOf(day: string): string | undefined {
    const { days } = this.joined;
    const before = previousTradingDay(day);
    return ['', day, ...(days.size === 1 ? [before] : [])].find((each) => days.has(each));
  }

  #whyUnmatched({ day, rowsDay, contracts, absent }: Matches): string | undefined {
    const days = [...this.joined.days].sort();
    if (rowsDay === undefined && days.length > 0) {
      const shown = days.length === 1 ? days[0] : `${days[0]} to ${days.at(-1)}`;
      return `${this.joined.file} is of ${shown}, and the quotes are of ${day}. The two files must be of the same day`;
    }
    if (absent <= UNMATCHED_SHARE_MAX * contracts) return undefined;
    return `${absent} of ${contracts} contracts are not in ${this.joined.file}. The two files must be of the same day`;
  }

  /** Returns why few contracts without a partner are too many, if so: the levels follow from contracts near spot and from large ones. */
  #whyWithoutCore(chain: Chain, { day, rowsDay, interest }: Matches): string | undefined {
    const { file, fields, interests } = this.joined;
    if (!fields.includes('open_interest')) return undefined;
    const near = nearestToSpot(chain);
    const absent = near.filter((row) => Number.isNaN(chain.openInterest[row]!)).length;
    if (absent >= NEAR_ABSENT_MIN && absent > NEAR_ABSENT_SHARE_MAX * near.length)
      return `${absent} of the ${near.length} contracts nearest to spot have no open interest in ${file}`;
    let all = 0;
    for (const { root, expiry, date, sum } of interests)
      if (date === rowsDay && expiry >= day && tickerOf(root) === chain.underlying) all += sum;
    if (all - interest <= UNMATCHED_SHARE_MAX * all) return undefined;
    const share = Math.round((100 * (all - interest)) / all);
    return `${share} % of the open interest in ${file} is of contracts that are not quoted. The two files must have the same contracts`;
  }
}

function nearestToSpot({ strike, spot, count }: Chain): number[] {
  const distance = (row: number) => Math.abs(Math.log(strike[row]! / spot));
  return Array.from({ length: count }, (_, row) => row)
    .sort((a, b) => distance(a) - distance(b))
    .slice(0, Math.ceil(NEAR_SHARE * count));
}
