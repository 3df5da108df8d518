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
  /** The second file whose day fits best. */
  readonly joined: JoinedValues;
  readonly day: string;
  /** The date of the rows in the second file that belong to the chain, or `undefined` if it has none of the chain's day. */
  readonly rowsDay: string | undefined;
  contracts: number;
  absent: number;
  /** Number of calls and puts that the second file lacks, and of those that it has. */
  readonly sides: { [side in 'calls' | 'puts']: { absent: number; found: number } };
  /** The keys of the contracts that were found. */
  readonly found: Set<string>;
  /** The open interest of the contracts that were found. */
  interest: number;
}

/** Joins the values of a second file to the contracts of chains, and refuses the chains that the second file does not fit. */
export class JoinCheck {
  readonly #chains = new Map<string, Matches>();

  constructor(private readonly files: readonly JoinedValues[]) {}

  /** Returns the texts of a contract in the second file, or `undefined` if the file lacks it. `atMs` is the time of the chain. */
  textsOf(
    { root, expiry, callPut, strike }: Pick<OptionSymbol, 'root' | 'expiry' | 'callPut' | 'strike'>,
    atMs: number,
  ): readonly string[] | undefined {
    if (Number.isNaN(atMs)) return undefined;
    const matches = this.#chains.getOrInsertComputed(`${tickerOf(root)} ${atMs}`, () => {
      const day = newYorkDate(atMs);
      const sides = { calls: { absent: 0, found: 0 }, puts: { absent: 0, found: 0 } };
      return { day, ...this.#fileOf(day), contracts: 0, absent: 0, sides, found: new Set<string>(), interest: 0 };
    });
    const { joined, rowsDay } = matches;
    const key = joinKey(root, expiry, callPut, strike, rowsDay);
    const texts = rowsDay === undefined ? undefined : joined.values.get(key);
    matches.contracts++;
    matches.sides[callPut === 1 ? 'calls' : 'puts'][texts === undefined ? 'absent' : 'found']++;
    if (texts === undefined) matches.absent++;
    else if (!matches.found.has(key)) {
      matches.found.add(key);
      if (expiry >= matches.day) matches.interest += interestIn(joined, texts);
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
    if (matches === undefined) return delivery;
    const reason = whyUnmatched(matches, chain) ?? whyWithoutCore(chain, matches);
    if (reason !== undefined) return { kind: 'rejection', origin, reason: `${chain.underlying}: ${reason}` };
    const { file, contradicting } = matches.joined;
    const notice = `${file} has rows with different values of ${contradicting} contracts, of which the first row counts`;
    return {
      ...{ ...delivery, second: { file, absent: matches.absent } },
      ...(contradicting > 0 && { notes: [...(delivery.notes ?? []), notice] }),
    };
  }

  /**
   * Returns the file whose day fits, and the date of its rows. Open interest is dated the day of the quotes, before the opening, or the session
   * before, if the second file has one day alone.
   */
  #fileOf(day: string): Pick<Matches, 'joined' | 'rowsDay'> {
    const before = previousTradingDay(day);
    for (const rowsDay of ['', day, before]) {
      const joined = this.files.find(({ days }) => days.has(rowsDay) && (rowsDay !== before || days.size === 1));
      if (joined) return { joined, rowsDay };
    }
    return { joined: this.files[0]!, rowsDay: undefined };
  }
}

function whyUnmatched({ joined, day, rowsDay, contracts, absent, sides }: Matches, chain: Chain): string | undefined {
  const { file, values, interests } = joined;
  const days = [...joined.days].sort();
  if (rowsDay === undefined && days.length > 0) {
    const shown = days.length === 1 ? days[0] : `${days[0]} to ${days.at(-1)}`;
    return `${file} is of ${shown}, and the quotes are of ${day}. The two files must be of the same day`;
  }
  if (absent <= UNMATCHED_SHARE_MAX * contracts) return undefined;
  const reason = `${absent} of ${contracts} contracts are not in ${file}`;
  if (values.size === 0) return `${reason}, of which no row can be read`;
  const tickers = new Set(interests.map(({ root }) => tickerOf(root)));
  if (!tickers.has(chain.underlying))
    return `${reason}: it has contracts of ${[...tickers].slice(0, 3).join(', ')}. Both files must be of the same ticker`;
  const factor = median(strikesOf(joined)) / median(chain.strike);
  const scale = SCALES.find((each) => Math.abs(Math.log(factor / each)) < Math.log(2));
  if (absent === contracts && scale !== undefined)
    return `${reason}: its strikes are about ${scale} times those of the quotes. Write the strikes of both files in dollars`;
  for (const [side, { absent: without, found }] of Object.entries(sides))
    if (found === 0 && without > 0)
      return `${reason}: it has no ${side} of these expiries. Save the calls and the puts`;
  return `${reason}, which has ${values.size} rows of contracts. Save both files with the same contracts`;
}

/** Factors between strikes of different units. */
const SCALES = [0.001, 0.01, 0.1, 10, 100, 1000];

/** Returns the strikes of a second file, dollars. */
function strikesOf({ values }: JoinedValues): number[] {
  return [...values.keys()].map((key) => Number(/ [CP](\d+) /.exec(key)?.[1]) / 1_000);
}

function median(values: ArrayLike<number>): number {
  return Float64Array.from(values).sort()[values.length >> 1] ?? Number.NaN;
}

/** Returns why few contracts without a partner are too many, if so: the levels follow from contracts near spot and from large ones. */
function whyWithoutCore(chain: Chain, { joined, day, rowsDay, interest }: Matches): string | undefined {
  const { file, fields, interests } = joined;
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

function nearestToSpot({ strike, spot, count }: Chain): number[] {
  const distance = (row: number) => Math.abs(Math.log(strike[row]! / spot));
  return Array.from({ length: count }, (_, row) => row)
    .sort((a, b) => distance(a) - distance(b))
    .slice(0, Math.ceil(NEAR_SHARE * count));
}
