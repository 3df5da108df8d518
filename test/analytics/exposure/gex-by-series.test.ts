import { expect, test } from 'bun:test';
import { gexBySeries } from '../../../src/analytics/exposure/gex-by-series.ts';
import { gexByContract } from '../gex-by-contract.ts';
import { contract, FEED_GAMMA, LATER, prepared } from '../small-chains.ts';

const ready = prepared(
  [
    contract({ strike: 95, callPut: -1, gamma: 0.02, openInterest: 30 }),
    contract({ strike: 100, gamma: 0.03, openInterest: 10, multiplier: 10 }),
    contract({ strike: 105, gamma: 0.01, openInterest: 5, expiry: LATER }),
    contract({ strike: 105, callPut: -1, gamma: 0.04, expiry: LATER }),
  ],
  FEED_GAMMA,
);

test('net and gross GEX of each series and of the chain', () => {
  const { net, gross, netOfAll, grossOfAll } = gexBySeries(ready);
  expect([...net]).toEqual([-6000 + 300, 500]);
  expect([...gross]).toEqual([6000 + 300, 500]);
  expect([netOfAll, grossOfAll]).toEqual([-5200, 6800]);
  expect(gexByContract(ready).reduce((sum, each) => sum + each, 0)).toBe(netOfAll);
});

test('are computed only once for the same positions', () => {
  expect(gexBySeries(ready)).toBe(gexBySeries(ready));
  const otherwise = { ...ready, position: ready.position.map((each) => -each) };
  expect(gexBySeries(otherwise).netOfAll).toBe(5200);
});
