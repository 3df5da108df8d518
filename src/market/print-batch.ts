import { textIn } from '../core/memoize-bytes.ts';
import { recordOf } from '../core/record-of.ts';
import type { Print } from './prints.ts';
import { dayOf, FLAG, NUMBERS, printAt } from './tape-columns.ts';

/** The contract of a print. */
export type BatchContract = Pick<Print, 'underlying' | 'root' | 'expiry' | 'callPut' | 'strike'>;

/** The bits of a print's flags in a batch, besides those of `FLAG`. */
export const BATCH_FLAG = { canceled: 32, simulated: 64 } as const;

/** A batch in the form in which processes send it to each other. */
export type BatchColumns = Pick<PrintBatch, 'contracts' | 'contract' | 'flags' | 'idBytes' | 'idEnds' | Numbers>;
type Numbers = (typeof NUMBERS)[number];

/** The prints of one tape (an underlying, simulated or recorded) and one New York day, as rows of a batch in ascending order. */
export interface DayRows {
  readonly underlying: string;
  readonly simulated: boolean;
  readonly day: string;
  readonly rows: number[];
}

/**
 * Prints as columns, in the order of arrival. A print of a tape is a row of the batch from its file to the store, because an object for each
 * of a million prints takes more time and memory than all else. The columns may be longer than `length`. NaN means "not given".
 */
export class PrintBatch implements Iterable<Print> {
  length = 0;
  contracts: BatchContract[] = [];
  /** For each print, the index of its contract in `contracts`. */
  contract: Uint32Array<ArrayBuffer>;
  at: Float64Array<ArrayBuffer>;
  price: Float64Array<ArrayBuffer>;
  size: Float64Array<ArrayBuffer>;
  multiplier: Float64Array<ArrayBuffer>;
  bid: Float64Array<ArrayBuffer>;
  ask: Float64Array<ArrayBuffer>;
  delta: Float64Array<ArrayBuffer>;
  /** The bits of `FLAG` and `BATCH_FLAG`. */
  flags: Uint8Array<ArrayBuffer>;
  /** The ids of the prints, one after another, as UTF-8. */
  idBytes: Uint8Array<ArrayBuffer>;
  /** For each print, the index after its last byte in `idBytes`. */
  idEnds: Uint32Array<ArrayBuffer>;
  #rowsMax: number;
  #idBytesMax: number;

  /** Creates an empty batch with memory for `rows` prints, which grows when it is full. */
  constructor(rows = ROWS_MIN) {
    const column = () => new Float64Array(rows);
    this.contract = new Uint32Array(rows);
    [this.at, this.price, this.size, this.multiplier] = [column(), column(), column(), column()];
    [this.bid, this.ask, this.delta] = [column(), column(), column()];
    this.flags = new Uint8Array(rows);
    this.idBytes = new Uint8Array(ID_BYTES * rows);
    this.idEnds = new Uint32Array(rows);
    this.#rowsMax = rows;
    this.#idBytesMax = this.idBytes.length;
  }

  /** Returns prints as a batch. */
  static of(prints: readonly Print[] | PrintBatch): PrintBatch {
    if (prints instanceof PrintBatch) return prints;
    const batch = new PrintBatch(prints.length);
    const contracts = new Map<string, number>();
    for (const print of prints) {
      batch.#add(
        print,
        contracts.getOrInsertComputed(keyOf(print), () => batch.addContract(print)),
      );
    }
    return batch;
  }

  static fromColumns(columns: BatchColumns): PrintBatch {
    const batch = Object.assign(new PrintBatch(0), columns, { length: columns.contract.length });
    batch.#rowsMax = columns.contract.length;
    batch.#idBytesMax = columns.idBytes.length;
    return batch;
  }

  /** Returns copies of the columns without unused memory, because a message would have the whole memory of a view. */
  columns(): BatchColumns {
    const { length, contracts, contract, flags, idBytes, idEnds } = this;
    return {
      contracts,
      contract: contract.slice(0, length),
      ...recordOf(NUMBERS, (name) => this[name].slice(0, length)),
      flags: flags.slice(0, length),
      idBytes: idBytes.slice(0, this.#idEnd(length - 1)),
      idEnds: idEnds.slice(0, length),
    };
  }

  /** Adds a contract to `contracts`, and returns its index. A contract that is added twice has two indices. */
  addContract({ underlying, root, expiry, callPut, strike }: BatchContract): number {
    return this.contracts.push({ underlying, root, expiry, callPut, strike }) - 1;
  }

  /** Adds a row with a contract of `contracts` and an id, the bytes [from, to). The caller sets the other columns. Returns the row. */
  addRow(contract: number, id: Uint8Array, from: number, to: number): number {
    const row = this.length;
    if (row === this.#rowsMax) this.#growRows();
    let end = this.#idEnd(row - 1);
    if (end + to - from > this.#idBytesMax) {
      this.idBytes = longer(this.idBytes, end + to - from);
      this.#idBytesMax = this.idBytes.length;
    }
    for (let at = from; at < to; at++) this.idBytes[end++] = id[at]!;
    this.idEnds[row] = end;
    this.contract[row] = contract;
    this.length = row + 1;
    return row;
  }

  #add(print: Print, contract: number): void {
    const { side, multiLeg, sweep, block, canceled, simulated } = print;
    const id = Buffer.from(print.id);
    const row = this.addRow(contract, id, 0, id.length);
    for (const name of NUMBERS) this[name][row] = print[name] ?? Number.NaN;
    this.flags[row] =
      (side === null ? 0 : FLAG[side]) |
      (multiLeg ? FLAG.multiLeg : 0) |
      (sweep ? FLAG.sweep : 0) |
      (block ? FLAG.block : 0) |
      (canceled ? BATCH_FLAG.canceled : 0) |
      (simulated ? BATCH_FLAG.simulated : 0);
  }

  /** Adds rows of another batch, in the given order. Without `rows`, adds all rows. */
  append(other: PrintBatch, rows?: readonly number[]): void {
    const numbers = new Int32Array(other.contracts.length).fill(-1);
    const count = rows?.length ?? other.length;
    for (let i = 0; i < count; i++) {
      const from = rows ? rows[i]! : i;
      const contract = other.contract[from]!;
      if (numbers[contract]! < 0) numbers[contract] = this.addContract(other.contracts[contract]!);
      const row = this.addRow(numbers[contract]!, other.idBytes, other.#idEnd(from - 1), other.idEnds[from]!);
      this.at[row] = other.at[from]!;
      this.price[row] = other.price[from]!;
      this.size[row] = other.size[from]!;
      this.multiplier[row] = other.multiplier[from]!;
      this.bid[row] = other.bid[from]!;
      this.ask[row] = other.ask[from]!;
      this.delta[row] = other.delta[from]!;
      this.flags[row] = other.flags[from]!;
    }
  }

  /** Returns the rows from `from` (included) to `to` (excluded). */
  slice(from: number, to: number): PrintBatch {
    const rows = Array.from({ length: Math.max(0, Math.min(to, this.length) - from) }, (_, i) => from + i);
    return this.pick(rows);
  }

  /** Returns the given rows, in the given order. Returns the batch itself if `rows` has as many rows as the batch. */
  pick(rows: readonly number[]): PrintBatch {
    if (rows.length === this.length) return this;
    const picked = new PrintBatch(rows.length);
    picked.append(this, rows);
    return picked;
  }

  isCanceled(row: number): boolean {
    return (this.flags[row]! & BATCH_FLAG.canceled) !== 0;
  }

  /** Returns the premium of a print, dollars. */
  premium(row: number): number {
    return this.price[row]! * this.size[row]! * this.multiplier[row]!;
  }

  /** Returns a row as a print. */
  print(row: number): Print {
    const flags = this.flags[row]!;
    return printAt(this, row, this.contracts[this.contract[row]!]!, {
      id: textIn(this.idBytes, this.#idEnd(row - 1), this.idEnds[row]!),
      canceled: (flags & BATCH_FLAG.canceled) !== 0,
      simulated: (flags & BATCH_FLAG.simulated) !== 0,
    });
  }

  *[Symbol.iterator](): Generator<Print, void> {
    for (let row = 0; row < this.length; row++) yield this.print(row);
  }

  /**
   * Returns the digests of the ids, two words of 32 bits each. On one of 40 million days of a million prints, two prints share a digest.
   */
  digests(): Uint32Array {
    const digests = new BigUint64Array(this.length);
    for (let row = 0, from = 0; row < digests.length; row++) {
      const to = this.idEnds[row]!;
      digests[row] = Bun.hash.xxHash64(this.idBytes.subarray(from, to));
      from = to;
    }
    return new Uint32Array(digests.buffer);
  }

  /** Groups the prints by tape and New York day. The groups are in the order of their first prints. */
  byDay(): DayRows[] {
    const days = new Map<string, DayRows>();
    // Prints mostly arrive in time order, so the next print is usually of the same day.
    let last: DayRows | undefined;
    for (let row = 0; row < this.length; row++) {
      const { underlying } = this.contracts[this.contract[row]!]!;
      const simulated = (this.flags[row]! & BATCH_FLAG.simulated) !== 0;
      const day = dayOf(this.at[row]!);
      if (last?.day !== day || last.underlying !== underlying || last.simulated !== simulated) {
        last = days.getOrInsertComputed(`${simulated} ${underlying} ${day}`, () => ({
          ...{ underlying, simulated, day, rows: [] },
        }));
      }
      last.rows.push(row);
    }
    return [...days.values()];
  }

  #idEnd(row: number): number {
    return row < 0 ? 0 : this.idEnds[row]!;
  }

  #growRows(): void {
    const rows = Math.max(2 * this.length, ROWS_MIN);
    this.contract = longer(this.contract, rows);
    this.idEnds = longer(this.idEnds, rows);
    this.flags = longer(this.flags, rows);
    for (const name of NUMBERS) this[name] = longer(this[name], rows);
    this.#rowsMax = rows;
  }
}

/** Number of prints for which a new batch has memory, and number of bytes of an id. */
const [ROWS_MIN, ID_BYTES] = [256, 24];

function keyOf({ underlying, root, expiry, callPut, strike }: BatchContract): string {
  return `${underlying} ${root} ${expiry} ${callPut} ${strike}`;
}

/** Returns a copy of a column with at least `length` elements. */
function longer<Column extends Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
  column: Column,
  length: number,
): Column {
  const copy = new (column.constructor as new (length: number) => Column)(Math.max(length, 2 * column.length));
  copy.set(column);
  return copy;
}
