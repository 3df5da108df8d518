import { expect, test } from 'bun:test';
import { idHead, idTail, parseEventId, tailOf } from '../../../src/http/live/event-ids.ts';
import { parseMarks } from '../../../src/http/live/level-marks.ts';

const place = { seq: 4_711, underlying: 'SPY', asOf: 1_790_000_000_000, keptAt: 1_790_000_001_234 };

test.each([false, true])('an id is read back: late %p', (isLate) => {
  const marks = parseMarks('tbcdef~BRK.B_tbcdea~SPX_tbcdeb');
  const text = idHead({ marks, isLate }) + tailOf('0123456789ab', place);
  const id = parseEventId(text);
  expect(id).toEqual({
    ...{ marks, isLate, log: '0123456789ab', seq: place.seq, keptAt: place.keptAt },
    check: expect.stringMatching(/^[0-9a-z]{1,3}$/),
  });
  expect(typeof id === 'object' && idHead(id) + idTail(id)).toBe(text);
});

test('an id without own marks has some 40 characters, which need no escape in a header or an address', () => {
  const text = idHead({ marks: parseMarks('tbcdef'), isLate: false }) + tailOf('0123456789ab', place);
  expect(text.length).toBeLessThanOrEqual(40);
  expect(encodeURIComponent(text)).toBe(text);
});

test('records of one number and time have another check if the ticker or the moment differs', () => {
  const tails = [place, { ...place, underlying: 'QQQ' }, { ...place, asOf: place.asOf + 1_000 }].map((each) =>
    tailOf('a', each),
  );
  expect(new Set(tails).size).toBe(3);
});

test.each(['0', '123', '999999999999999'])('the number of an earlier version is one: %s', (text) => {
  expect(parseEventId(text)).toBe(Number(text));
});

test.each([
  ...['', 'x', '-1', '1.5', '1234567890123456', '1.2.3', '1.2.3.4', '1.2.3.4.5.6', '.a.1.2.3', '1.a.1.2.', '1.a..2.3'],
  ...['1.a.1.2.3 ', ' 1.a.1.2.3', '1.a.1.2.3\n', '1.A.1.2.3', 'LL1.a.1.2.3', '1~.a.1.2.3', '1~SPX.a.1.2.3'],
  ...[
    '1~spx_1.a.1.2.3',
    '1~SPX_.a.1.2.3',
    '1~SPX_1~.a.1.2.3',
    '1.a.12345678901.2.3',
    '123456789.a.1.2.3',
    '1.a.1.2.3456',
  ],
  `1${'~SPX_1'.repeat(13)}.a.1.2.3`,
  `1.${'a'.repeat(33)}.1.2.3`,
])('is no id: %j', (text) => {
  expect(parseEventId(text)).toBeUndefined();
});
