import { describe, expect, test } from 'bun:test';
import { createCboeFeed } from '../../../src/feeds/cboe/cboe-feed.ts';
import { PARSED_BYTES_MAX } from '../../../src/feeds/http/fetch-json.ts';
import type { Json } from '../../support/provider-faults.ts';
import { asText } from '../files/reading.ts';
import { polled, providerForTests, reasonsOf, TICKERS } from '../provider-market.ts';
import { describeProvider } from '../provider-suite.ts';
import { DELAYED_QUOTES } from '../shape-suite.ts';

describeProvider({
  name: 'cboe',
  create: createCboeFeed,
  isChainPath: () => true,
  ...DELAYED_QUOTES,
});

describe('cboe', () => {
  const { server, clock } = providerForTests();
  const create = (tickers: string[]) => createCboeFeed({ baseUrl: `${server.url}/`, tickers, clock });

  test('writes indices with an underscore, and share classes with their dot', async () => {
    await polled(create(TICKERS));
    const folder = '/api/global/delayed_quotes/options';
    expect(server.asked).toEqual([`${folder}/BRK.B.json`, `${folder}/_SPX.json`, `${folder}/CHPT.json`]);
  });

  test('polls every 5 min, with a delay of 16 min after the session', () => {
    expect(create(TICKERS).pace).toMatchObject({ everyMs: 5 * 60_000, delayMs: 16 * 60_000 });
  });

  test("reads an answer as large as an index's in a separate process, with the same chain", async () => {
    const [small] = await polled(create(['CHPT']));
    const padding = 'x'.repeat(PARSED_BYTES_MAX);
    server.behaviour = () => ({ kind: 'changed', change: (answer) => ({ ...(answer as object), padding }) });
    const [large] = await polled(create(['CHPT']));
    expect(small).toMatchObject({ kind: 'chain' });
    expect(asText(large)).toBe(asText(small));
  });

  test.each<[string, (answer: Json) => void, RegExp]>([
    [
      'another underlying',
      ({ data }) => data.options.forEach(renameToSpy),
      /no usable rows \(\d+ foreign_underlying\)/,
    ],
    [
      'a time of tomorrow',
      ({ data }) => {
        data.last_trade_time = '2026-11-21T12:00:00';
      },
      /dated 2026-11-21T17:00:00.000Z/,
    ],
    [
      'no time',
      ({ data }) => {
        data.last_trade_time = null;
      },
      /is a valid time/,
    ],
    [
      'a spot on another scale',
      ({ data }) => {
        data.current_price *= 100;
      },
      /contradicts the quotes/,
    ],
  ])('refuses an answer with %s', async (_what, edit, reason) => {
    server.behaviour = () => ({
      kind: 'changed',
      change(answer) {
        edit(answer);
        if (reason.source === 'is a valid time') delete answer.timestamp;
        return answer;
      },
    });
    expect(reasonsOf(await polled(create(['CHPT'])))).toEqual([['CHPT', expect.stringMatching(reason)]]);
  });
});

function renameToSpy(option: Json): void {
  option.option = option.option.replace('CHPT', 'SPY');
}
