/**
 * Products of more than 64 bits. A power of ten 10^e is two u64, the upper 64 bits first: 10^e * 2^(127 - log2Of(e)), rounded up to a whole
 * number. The caller gives the table of the powers from POWER_MIN on.
 */
export const POWER_MIN: i32 = -292;
export const POWER_MAX: i32 = 324;

export class Wide {
  /** Returns the address of 10^e in a table. */
  @inline
  static powerAt(powers: usize, e: i32): usize {
    return powers + ((<usize>(e - POWER_MIN)) << 4);
  }

  /** Returns the whole part of log2(10^e). */
  @inline
  static log2(e: i32): i32 {
    return (e * 1741647) >> 19;
  }

  /** Returns the upper 64 bits of a product. */
  @inline
  static highProduct(a: u64, b: u64): u64 {
    const aLow = a & 0xffffffff;
    const aHigh = a >> 32;
    const bLow = b & 0xffffffff;
    const bHigh = b >> 32;
    const middle = aHigh * bLow + ((aLow * bLow) >> 32);
    const cross = aLow * bHigh + (middle & 0xffffffff);
    return aHigh * bHigh + (middle >> 32) + (cross >> 32);
  }
}
