import { writeFileSync } from 'node:fs';

/** A small normalised chain: one expiry, strikes 90 to 110, flat volatility, most open interest at the 95 puts and the 105 calls. */
export function writeChain(path: string, underlying = 'TEST', asOf = '2026-08-21T16:00:00-04:00'): void {
  const rows = ['underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma'];
  for (let strike = 90; strike <= 110; strike += 2.5) {
    for (const side of ['C', 'P']) {
      const heaped = (side === 'C' && strike === 105) || (side === 'P' && strike === 95);
      rows.push(`${underlying},${asOf},100,,2026-09-18,${side},${strike},,,,10,${heaped ? 5000 : 100},0.25,,`);
    }
  }
  writeFileSync(path, `${rows.join('\n')}\n`);
}
