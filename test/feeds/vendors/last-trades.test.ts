import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { statedIn } from '../../../src/feeds/vendors/stated-flags.ts';

const rows = (time: string) => `,contractSymbol,lastTradeDate,strike,bid,ask,volume,openInterest,impliedVolatility
0,ABC260918C00100000,${time},100,2,2.2,1,10,0.2
1,ABC260918P00100000,2026-08-03 15:00:00+00:00,100,2.5,2.7,1,10,0.2
`;
const read = (text: string, asOf: string) =>
  runToCompletion(readMarketFile(Buffer.from(text), { origin: 'a.csv', stated: statedIn({ asOf }) }));

test.each<[string, string, string, boolean]>([
  ['two days before the newest trade', '2026-08-21 19:59:58+00:00', '2026-08-19', false],
  ['in the hours before it', '2026-08-21 19:59:58+00:00', '2026-08-21T12:00Z', true],
  ['after it', '2026-08-21 19:59:58+00:00', '2026-09-01', true],
  ['before a trade without a zone', '2026-08-21 15:59:58', '2026-08-19', false],
  ['before a trade whose day and month are open', '09/08/2026 15:59', '2026-08-04', true],
])('a time of quotes %s', (_what, time, asOf, isRead) => {
  const [delivery] = read(rows(time), asOf);
  if (isRead) expect(delivery).toMatchObject({ kind: 'chain', chain: { count: 2 } });
  else
    expect(delivery).toMatchObject({
      kind: 'rejection',
      reason: `the stated time of the quotes is 2026-08-19T20:00:00.000Z, but the newest last trade in column "lasttradedate" is of 2026-08-21T19:59:58.000Z. State the time at which the quotes were taken`,
    });
});
