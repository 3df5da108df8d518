import type { Database } from 'bun:sqlite';
import { addDays, newYorkInstant } from '../../market/calendar.ts';
import { rootOf } from '../../market/option-symbol.ts';
import type { PrintBatch } from '../../market/print-batch.ts';
import { change, isDeep, type Print, type PrintSum, premiumOf, sumOf } from '../../market/prints.ts';
import type { PrintStore } from '../../market/store.ts';
import { dayOf, FLAG, type TapeColumns } from '../../market/tape-columns.ts';
import { PREMIUM_UNITS } from '../../market/tape-sums.ts';
import type { printReader } from './read-prints.ts';
import { LAST_DATED_MS, type TapeDay } from './tape-days.ts';
import { entriesOf } from './tape-entries.ts';

/** The stored sums of large prints. */
export interface PrintSums extends Pick<PrintStore, 'printSums' | 'sumPrintsFrom'> {
  /** Adds a print to the sums of its day, or subtracts it (-1), within a transaction. Ignores small prints and adjusted deliverables. */
  count(print: Print, times: 1 | -1): void;
  /** Adds the prints in rows of a batch to the sums of their day, as `count` does. */
  countRows(tapeDay: TapeDay, prints: PrintBatch, rows: readonly number[]): void;
  /** Reads the minimum premium of a large print, which another process may have changed, at the start of a transaction. */
  refresh(): void;
}

/** The functions that read the stored prints of a range. `rows` returns those that are stored as rows. */
type PrintSource = Pick<ReturnType<typeof printReader>, 'packed' | 'mayHave'> & { rows: PrintStore['prints'] };

/**
 * Creates the functions that read and write the sums of large prints by tape, New York day, series, side of the quote, `multiLeg` and
 * `deep`. The transaction that writes prints updates the sums. For a window, only the prints of its partial days are read.
 */
export function printSums(db: Database, { rows, packed, mayHave }: PrintSource): PrintSums {
  const selectFloor = db.prepare<{ premium: number }, []>('SELECT premium FROM print_sums_from');
  const putFloor = db.prepare<null, [number]>('INSERT OR REPLACE INTO print_sums_from VALUES (1, ?)');
  const clear = db.prepare<null, []>('DELETE FROM print_sums');
  const selectTapes = db.prepare<{ simulated: number; underlying: string }, []>(
    'SELECT simulated, underlying FROM prints UNION SELECT simulated, underlying FROM tape_parts',
  );
  const add = db.prepare<null, [SumRow & { simulated: number; underlying: string; day: string }]>(
    `INSERT INTO print_sums VALUES
       ($simulated, $underlying, $day, $root, $expiry, $callPut, $side, $multiLeg, $deep, $prints, $contracts, $premium)
     ON CONFLICT DO UPDATE SET prints = prints + $prints, contracts = contracts + $contracts, premium = premium + $premium`,
  );
  const select = db.prepare<SumRow, [number, string, string, string]>(
    `SELECT root, expiry, call_put AS callPut, side, multi_leg AS multiLeg, deep, sum(prints) AS prints,
       sum(contracts) AS contracts, sum(premium) AS premium
     FROM print_sums WHERE simulated = ? AND underlying = ? AND day BETWEEN ? AND ?
     GROUP BY root, expiry, call_put, side, multi_leg, deep HAVING sum(prints) > 0`,
  );

  let floor: number | undefined;
  const refresh = () => {
    floor = selectFloor.get()?.premium;
  };
  const counts = (premiumUsd: number) => floor !== undefined && premiumUsd >= floor;
  const count = (print: Print, times: 1 | -1) => {
    if (!counts(premiumOf(print)) || isAdjusted(print)) return;
    const { underlying, simulated, at } = print;
    add.run({ ...rowOf(print, times), underlying, simulated: Number(simulated), day: dayOf(at) });
  };
  const countRows = ({ simulated, underlying, day }: TapeDay, prints: PrintBatch, rows: readonly number[]) => {
    const large = rows.filter((row) => counts(prints.premium(row)));
    if (large.length === 0) return;
    const sums = new Map<string, SumRow>();
    for (const row of sumsOfColumns(entriesOf(prints, large, NO_DIGESTS, NO_FLAGS))) addTo(sums, row);
    for (const row of sums.values()) add.run({ ...row, underlying, simulated, day });
  };
  const sumAgain = db.transaction((minPremiumUsd: number) => {
    refresh();
    if (floor === minPremiumUsd) return;
    clear.run();
    putFloor.run(minPremiumUsd);
    refresh();
    for (const { simulated, underlying } of selectTapes.all()) {
      const all = [underlying, 0, Number.MAX_SAFE_INTEGER, simulated === 1, minPremiumUsd] as const;
      for (const { day, columns } of packed(...all)) {
        for (const row of sumsOfColumns(columns)) add.run({ ...row, underlying, simulated, day });
      }
      for (const print of rows(...all)) count(print, 1);
    }
  });

  return {
    count,
    countRows,
    refresh,
    sumPrintsFrom: (minPremiumUsd) => sumAgain.immediate(minPremiumUsd),
    printSums(underlying, fromMs, toMs, simulated, minPremiumUsd) {
      if (!mayHave(underlying, fromMs, toMs, simulated)) return [];
      const sums = new Map<string, SumRow>();
      const addPrints = (from: number, to: number) => {
        if (from > to) return;
        const range = [underlying, from, to, simulated, minPremiumUsd] as const;
        for (const { columns } of packed(...range)) for (const row of sumsOfColumns(columns)) addTo(sums, row);
        for (const print of rows(...range)) if (!isAdjusted(print)) addTo(sums, rowOf(print, 1));
      };
      refresh();
      if (floor !== minPremiumUsd) {
        addPrints(fromMs, toMs);
        return [...sums.values()].map(printSumOf);
      }
      const hasNoPrints = (from: number, to: number) => from > to || !mayHave(underlying, from, to, simulated);
      // The first and the last day may be partly outside the window. A day counts as full if all its prints are in the window.
      const [first, last] = [dayOf(Math.max(fromMs, 0)), dayOf(Math.min(toMs, LAST_DATED_MS))];
      const from = hasNoPrints(startOf(first), fromMs - 1) ? first : addDays(first, 1);
      const to = hasNoPrints(toMs + 1, startOf(addDays(last, 1)) - 1) ? last : addDays(last, -1);
      if (from > to) addPrints(fromMs, toMs);
      else {
        for (const row of select.all(Number(simulated), underlying, from, to)) addTo(sums, row);
        addPrints(fromMs, startOf(from) - 1);
        addPrints(startOf(addDays(to, 1)), toMs);
      }
      return [...sums.values()].map(printSumOf);
    },
  };
}

const [NO_DIGESTS, NO_FLAGS] = [new Uint32Array(), new Uint8Array()];

/** A sum as SQLite stores it: booleans are 0 and 1, and the premium is in units of 1 / PREMIUM_UNITS dollars. */
type SumRow = Omit<PrintSum, 'multiLeg' | 'deep'> & { multiLeg: number; deep: number };

/** Returns a print as a sum. If `times` is -1, the number of prints, the contracts and the premium are negative. */
function rowOf(print: Print, times: 1 | -1): SumRow {
  const { multiLeg, deep, prints, contracts, premium, ...same } = sumOf(print);
  return {
    ...same,
    multiLeg: Number(multiLeg),
    deep: Number(deep),
    prints: times * prints,
    contracts: times * contracts,
    premium: times * Math.round(premium * PREMIUM_UNITS),
  };
}

/** Yields the sums of prints in columns. A day can have a million prints, so the function does not create an object per print. */
function* sumsOfColumns(columns: TapeColumns): Generator<SumRow, void> {
  const { count, contracts, contract, price, size, multiplier, bid, ask, delta, flags } = columns;
  const sums = new Map<number, { prints: number; contracts: number; premium: number }>();
  for (let row = 0; row < count; row++) {
    const side = flags[row]! & FLAG.side || sideByQuote(price[row]!, bid[row]!, ask[row]!);
    const sumFlags = (flags[row]! & FLAG.multiLeg ? 2 : 0) + (isDeep(delta[row]!) ? 1 : 0);
    const key = (contracts.seriesIndex[contract[row]!]! * 4 + side) * 4 + sumFlags;
    const sum = sums.getOrInsertComputed(key, () => ({ prints: 0, contracts: 0, premium: 0 }));
    sum.prints++;
    sum.contracts += size[row]!;
    sum.premium += Math.round(price[row]! * size[row]! * multiplier[row]! * PREMIUM_UNITS);
  }
  for (const [key, sum] of sums) {
    const series = contracts.series[key >> 4]!;
    if (rootOf(series.root).adjusted) continue;
    yield { ...series, side: SIDES[(key >> 2) & 3]!, multiLeg: (key >> 1) & 1, deep: key & 1, ...sum };
  }
}

/** The side for each value of the side bits in a print's flags. */
const SIDES = ['none', 'bid', 'ask', 'mid'] as const;

/** Returns the side bits of a print, computed from its quote by the rule of `sumOf`. */
function sideByQuote(price: number, bid: number, ask: number): number {
  if (!(ask > bid)) return 0;
  return { 1: FLAG.ask, 0: FLAG.mid, [-1]: FLAG.bid }[change((bid + ask) / 2, price)];
}

function addTo(sums: Map<string, SumRow>, row: SumRow): void {
  const key = `${row.root} ${row.expiry} ${row.callPut} ${row.side} ${row.multiLeg} ${row.deep}`;
  const { prints, contracts, premium } = sums.get(key) ?? { prints: 0, contracts: 0, premium: 0 };
  sums.set(key, {
    ...row,
    prints: prints + row.prints,
    contracts: contracts + row.contracts,
    premium: premium + row.premium,
  });
}

function printSumOf({ multiLeg, deep, premium, ...same }: SumRow): PrintSum {
  return { ...same, multiLeg: multiLeg === 1, deep: deep === 1, premium: premium / PREMIUM_UNITS };
}

/** Returns whether the contract of a print has an adjusted deliverable. Sums leave out prints of contracts with an adjusted deliverable. */
function isAdjusted({ root }: Print): boolean {
  return rootOf(root).adjusted;
}

function startOf(day: string): number {
  return newYorkInstant(day, '00:00');
}
