import { RowField, RowFlag } from './columns';

const LF: u32 = 0x0a;
const CR: u32 = 0x0d;
const QUOTE: u32 = 0x22;

/**
 * Finds the rows of delimited text in the bytes [from, to), without empty lines. The syntax is explained in src/math/delimited-rows.ts. Unless
 * `isLast`, a row that may go on after `to` is not counted. A row of more than `bytesMax` bytes is the last row. Writes the start and the end
 * of each cell to `cells`, and to `rows` the fields of each row, and `start`, `cells` and `line` of the next one. Returns the number of rows,
 * or -1 if the cells of the first row do not fit before `cellsEnd`.
 */
export function scanRows(
  from: usize,
  to: usize,
  isLast: bool,
  delimiter: u32,
  isRaw: bool,
  linesMax: i32,
  bytesMax: i32,
  cells: usize,
  cellsEnd: usize,
  rows: usize,
  rowsMax: i32,
): i32 {
  const delimiters = i8x16.splat(<i8>delimiter);
  const backs = i8x16.splat(<i8>(isRaw ? LF : CR));
  let count = 0;
  let line = 0;
  let start = from;
  let block = from;
  let mask = Scan.marks(block, delimiters, backs);
  while (start < to && count < rowsMax) {
    const stop = min(to, start + <usize>bytesMax + 1);
    const first = cells;
    // A byte-order mark is whitespace, so a quotation mark after it is at the start of a cell.
    let cell = !isRaw && load<u8>(start) === 0xef && Scan.spaceAt(start, stop) === 3 ? start + 3 : start;
    let lines = 1;
    let flags = 0;
    let at: usize = start;
    let isFull = false;
    // Each round finds the end of a cell.
    for (;;) {
      isFull = cells === cellsEnd;
      if (isFull) break;
      while (mask === 0 && block < stop) {
        block += 64;
        mask = Scan.marks(block, delimiters, backs);
      }
      at = min(block + <usize>ctz(mask), stop);
      mask &= mask - 1;
      // The LF of a CRLF is before the first cell.
      if (at < cell) continue;
      if (at < stop && load<u8>(at) === QUOTE) {
        if (at > cell) continue;
        let isDoubled = false;
        let isClosed = false;
        let after: usize = 0;
        for (at++; at < stop; at++) {
          const byte: u32 = load<u8>(at);
          if (byte === LF || (byte === CR && !isRaw)) {
            if (lines === linesMax) break;
            lines++;
            if (byte === CR && at + 1 < stop && load<u8>(at, 1) === LF) at++;
          }
          if (byte !== QUOTE) continue;
          if (at + 1 < stop && load<u8>(at, 1) === QUOTE) {
            isDoubled = true;
            at++;
            continue;
          }
          after = at + 1;
          isClosed = true;
          if (isRaw) break;
          while (after < stop && !Scan.isMark(load<u8>(after), delimiter)) after++;
          const next: u32 = after < stop ? load<u8>(after) : LF;
          isClosed = next !== QUOTE && Scan.afterSpaces(at + 1, after) === after;
          if (!isClosed || (after > at + 1 && next !== delimiter)) flags |= RowFlag.malformed;
          if (isClosed) break;
        }
        block = isClosed ? after : at;
        mask = Scan.marks(block, delimiters, backs);
        if (isRaw && isClosed) continue;
        if (!isClosed) flags |= RowFlag.open;
        if (!isRaw) cell++;
        const end = isDoubled && isClosed ? Scan.undouble(cell, at) : at;
        cells = Scan.addCell(cells, cell, end, isRaw);
        at = block;
        mask &= ~(<u64>(at < stop));
      } else cells = Scan.addCell(cells, cell, at, isRaw);
      if (at >= stop || load<u8>(at) !== delimiter) break;
      cell = at + 1;
    }
    if (isFull) {
      cells = first;
      if (count === 0) count = -1;
      break;
    }
    const byte: u32 = at < stop ? load<u8>(at) : 0;
    let end = at;
    if (isRaw && end > start && load<u8>(end - 1) === CR) {
      end--;
      store<u32>(cells - 4, <u32>end);
    }
    // A CR at the end may be the first half of a CRLF.
    if (!isLast && (at === to || (byte === CR && at + 1 === to))) {
      cells = first;
      break;
    }
    let next = at;
    if (at < stop) {
      flags |= RowFlag.terminated;
      next += byte === CR && at + 1 < to && load<u8>(at, 1) === LF ? 2 : 1;
    }
    if (end === start) cells = first;
    else {
      store<u32>(rows, <u32>start, RowField.start * 4);
      store<u32>(rows, <u32>at, RowField.end * 4);
      store<u32>(rows, <u32>first, RowField.cells * 4);
      store<u32>(rows, line, RowField.line * 4);
      store<u32>(rows, flags, RowField.flags * 4);
      rows += RowField.size * 4;
      count++;
    }
    line += lines;
    start = next;
    if (at === stop && stop < to) break;
  }
  store<u32>(rows, <u32>start, RowField.start * 4);
  store<u32>(rows, <u32>cells, RowField.cells * 4);
  store<u32>(rows, line, RowField.line * 4);
  return count;
}

class Scan {
  /** Returns a bit for each of 64 bytes that is a delimiter, a line break or a quotation mark. */
  @inline
  static marks(at: usize, delimiters: v128, backs: v128): u64 {
    return (
      Scan.sixteen(at, delimiters, backs) |
      (Scan.sixteen(at + 16, delimiters, backs) << 16) |
      (Scan.sixteen(at + 32, delimiters, backs) << 32) |
      (Scan.sixteen(at + 48, delimiters, backs) << 48)
    );
  }

  @inline
  static sixteen(at: usize, delimiters: v128, backs: v128): u64 {
    const bytes = v128.load(at);
    const isBreak = v128.or(i8x16.eq(bytes, i8x16.splat(<i8>LF)), i8x16.eq(bytes, backs));
    const isOther = v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, i8x16.splat(<i8>QUOTE)));
    return <u64>(<u32>i8x16.bitmask(v128.or(isBreak, isOther)));
  }

  @inline
  static isMark(byte: u32, delimiter: u32): bool {
    return byte === delimiter || byte === QUOTE || byte === LF || byte === CR;
  }

  /** Adds a cell, without the whitespace at its ends unless `isRaw`. Returns the address of the next cell. */
  @inline
  static addCell(cells: usize, cell: usize, at: usize, isRaw: bool): usize {
    let from = cell;
    let to = at;
    if (!isRaw && from < to && !(Scan.isPlain(from) & Scan.isPlain(to - 1))) {
      from = Scan.afterSpaces(from, to);
      to = Scan.beforeSpaces(from, to);
    }
    store<u32>(cells, <u32>from);
    store<u32>(cells, <u32>to, 4);
    return cells + 8;
  }

  /** Returns 1 if a byte is not a part of whitespace. */
  @inline
  static isPlain(at: usize): u32 {
    return <u32>(<u32>load<u8>(at) - 0x21 < 0x5f);
  }

  static afterSpaces(from: usize, to: usize): usize {
    let at = from;
    for (let size = Scan.spaceAt(at, to); at < to && size > 0; size = Scan.spaceAt(at, to)) at += size;
    return at;
  }

  static beforeSpaces(from: usize, to: usize): usize {
    let at = to;
    for (let size: usize = 1; size <= 3 && at >= from + size; size++) {
      if (Scan.spaceAt(at - size, at) !== size) continue;
      at -= size;
      size = 0;
    }
    return at;
  }

  /** Returns the number of bytes of the whitespace at an address, as `String.prototype.trim` knows it in UTF-8. Returns 0 for other text. */
  static spaceAt(at: usize, to: usize): usize {
    const byte: u32 = load<u8>(at);
    if (byte === 0x20 || byte - 9 < 5) return 1;
    if (byte < 0x80 || at + 2 > to) return 0;
    if (load<u16>(at) === 0xa0c2) return 2;
    if (at + 3 > to) return 0;
    const three = load<u32>(at) & 0xffffff;
    const third = three >> 16;
    // U+2000 to U+200A, U+2028, U+2029 and U+202F; U+1680, U+205F, U+3000 and U+FEFF.
    if ((three & 0xffff) === 0x80e2)
      return third - 0x80 <= 0x0a || third === 0xa8 || third === 0xa9 || third === 0xaf ? 3 : 0;
    return three === 0x809ae1 || three === 0x9f81e2 || three === 0x8080e3 || three === 0xbfbbef ? 3 : 0;
  }

  /** Replaces doubled quotation marks in [from, to) by single ones. Returns the new end. */
  static undouble(from: usize, to: usize): usize {
    let out = from;
    for (let at = from; at < to; at++) {
      const byte = load<u8>(at);
      if (byte === QUOTE && at + 1 < to && load<u8>(at, 1) === QUOTE) at++;
      store<u8>(out++, byte);
    }
    return out;
  }
}
