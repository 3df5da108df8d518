import { describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { asText, chain, chains, NOON_MS, readText, rejections } from './reading.ts';

const HEADER =
  'underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma,theta,vega,rho';
const CALL =
  'XYZ,2026-08-21T16:00:00-04:00,98.5,XYZ260918C00100000,2026-09-18,C,100.0,1.1,1.3,1.2,7,40,0.25,0.42,0.03,-0.02,0.11,0.02';
const PUT = 'XYZ,2026-08-21T16:00:00-04:00,98.5,XYZ260918P00100000,2026-09-18,P,100.0,2.1,2.3,,,50,0.26,-0.58,0.03,,,';

test('reads every column into its field', () => {
  const read = chain(`${HEADER}\n${CALL}\n${PUT}\n`);
  expect(read).toMatchObject({ underlying: 'XYZ', spot: 98.5, source: 'files:a/b.csv', simulated: false, count: 2 });
  expect(read.asOf).toBe(Date.parse('2026-08-21T20:00:00Z'));
  expect(read.refused).toEqual({});
  expect([...read.callPut, ...read.strike, ...read.bid, ...read.ask]).toEqual([1, -1, 100, 100, 1.1, 2.1, 1.3, 2.3]);
  expect([...read.last, ...read.volume]).toEqual([1.2, Number.NaN, 7, Number.NaN]);
  expect([...read.openInterest, ...read.iv, ...read.delta]).toEqual([40, 50, 0.25, 0.26, 0.42, -0.58]);
  expect([...read.gamma, ...read.multiplier]).toEqual([0.03, 0.03, 100, 100]);
  expect(read.series.map(({ root, expiry, settlement }) => [root, expiry, settlement])).toEqual([
    ['XYZ', '2026-09-18', 'PM'],
  ]);
});

describe('the same chain in another format', () => {
  const rows = (text: string) => asText(chain(text));
  const plain = `${HEADER}\n${CALL}\n${PUT}\n`;
  const shuffle = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => [...line.split(',').reverse(), 'more'].join(','))
      .join('\n');
  test.each([
    ['columns in another order, with more of them', shuffle(plain)],
    ['Windows line ends', plain.replaceAll('\n', '\r\n')],
    ['a byte-order mark', `\uFEFF${plain}`],
    ['capitals in the header', plain.replace(HEADER, HEADER.toUpperCase())],
    ['padded symbols', plain.replaceAll('XYZ260918', 'XYZ   260918')],
    ['quoted cells', plain.replace('XYZ260918C00100000', '"XYZ260918C00100000"')],
    ['text around the table', `# exported\n\n${plain}`],
    ['empty lines', plain.replaceAll('\n', '\n\n')],
    ['no symbols', plain.replaceAll(/XYZ260918.00100000/g, '')],
    ['no expiry beside the symbol', plain.replaceAll('2026-09-18,', ',')],
    ['no line end at the end', plain.trimEnd()],
    [
      'sides in full words',
      plain
        .replaceAll(/XYZ260918.00100000/g, '')
        .replace(',C,', ',call,')
        .replace(',P,', ',Put,'),
    ],
  ])('%s', (_what, text) => {
    expect(rows(text)).toEqual(rows(plain));
  });
});

test('the symbol determines the underlying, not the column', () => {
  const read = chain(`${HEADER}\n${CALL.replace('XYZ,', 'SPX,').replace('XYZ2', 'SPXW2')}\n`);
  expect([read.underlying, read.series[0]?.root]).toEqual(['SPX', 'SPXW']);
});

test('without a symbol, only the third Friday of an index has the AM root', () => {
  const minimal = 'underlying,expiry,put_call,strike,open_interest,spot';
  const read = chain(
    `${minimal}\nSPX,2026-09-18,C,6000,1,6000\nSPX,2026-09-17,C,6000,1,6000\nBRK.B,2026-09-18,C,500,1,490\n`,
    2,
  );
  expect(read.series.map(({ root, expiry }) => `${root} ${expiry}`)).toEqual(['SPXW 2026-09-17', 'SPX 2026-09-18']);
});

test('the required columns suffice: the file gives the time, and put-call parity the spot', () => {
  const quotes = [
    ...['C,95,5.1,5.3', 'P,95,1.1,1.3', 'C,100,2.1,2.3', 'P,100,3.1,3.3', 'C,105,0.5,0.7', 'P,105,6.5,6.7'],
    ...['C,110,0,0.1', 'P,110,11,12'],
  ];
  const rows = quotes.map((quote) => `XYZ,2026-09-18,${quote},5`).join('\n');
  const read = chain(`underlying,expiry,put_call,strike,bid,ask,open_interest\n${rows}`);
  expect(read.asOf).toBe(NOON_MS);
  expect(read.spot).toBeCloseTo(99, 10);
});

test('implied spot uses the first expiry near the money, without stale and one-sided quotes', () => {
  const pair = (expiry: string, strike: number, gap: number) => [
    `XYZ,${expiry},C,${strike},${10 + gap},${10 + gap},5`,
    `XYZ,${expiry},P,${strike},10,10,5`,
  ];
  const near = [98, 99, 100, 101, 102].flatMap((strike) => pair('2026-09-18', strike, 100 - strike));
  const stale = [106, 107, 108, 109].flatMap((strike) => pair('2026-09-18', strike, -9));
  const settled = pair('2026-08-20', 50, 0);
  const later = pair('2026-10-16', 70, 0);
  const oneSided = 'XYZ,2026-08-28,C,60,0,1,5\nXYZ,2026-08-28,P,60,1,2,5';
  const rows = [...settled, oneSided, ...stale, ...near, ...later].join('\n');
  expect(chain(`underlying,expiry,put_call,strike,bid,ask,open_interest\n${rows}`).spot).toBe(100);
});

test('several underlyings and times give one chain each', () => {
  const later = CALL.replace('T16:00:00', 'T16:15:00');
  const other = CALL.replaceAll('XYZ', 'ABC');
  const read = chains([HEADER, CALL, PUT, later, other, PUT.replaceAll('XYZ', 'ABC')].join('\n'));
  expect(read.map(({ underlying, asOf, count }) => [underlying, new Date(asOf).toISOString(), count])).toEqual([
    ['XYZ', '2026-08-21T20:00:00.000Z', 2],
    ['XYZ', '2026-08-21T20:15:00.000Z', 1],
    ['ABC', '2026-08-21T20:00:00.000Z', 2],
  ]);
});

test('refuses a file that ends within a row, because an unknown part is missing', () => {
  expect(rejections(`${HEADER}\n${CALL}\n${PUT.slice(0, 40)}`)).toEqual(['the file ends within row 2']);
  expect(chain(`${HEADER}\n${CALL}\n${PUT}`).count).toBe(2);
});

test('a wrong digit in the time of one row does not create another chain', () => {
  const rows = Array.from({ length: 20 }, (_, i) => CALL.replace('C00100000', `C00${101 + i}000`));
  const slipped = PUT.replace('2026-08-21', '2926-08-21');
  expect(chain([HEADER, ...rows, slipped, ''].join('\n')).refused).toEqual({ stray_as_of: 1 });
});

test('the spot is the median of the rows', () => {
  const puts = [
    PUT,
    PUT.replace('P00100000', 'P00101000'),
    PUT.replace(',98.5,', ',9850,').replace('P00100000', 'P00102000'),
  ];
  expect(chain([HEADER, ...puts, ''].join('\n')).spot).toBe(98.5);
});

test('refuses a spot that contradicts the quotes', () => {
  for (const spot of [985, 160, 60]) {
    const rows = [CALL, PUT].map((row) => row.replace(',98.5,', `,${spot},`));
    expect(rejections([HEADER, ...rows, ''].join('\n'))).toEqual([
      expect.stringContaining(`spot ${spot} contradicts the quotes`),
    ]);
  }
});

test('refuses a chain whose open interest cannot be read for the most part', () => {
  const rows = Array.from({ length: 40 }, (_, i) =>
    CALL.replace('C00100000', `C00${101 + i}000`).replace(/,([^,]*)(,[^,]*){6}$/, i < 10 ? ',12.3K,,,,,,' : ',5,,,,,,'),
  );
  expect(rejections([HEADER, ...rows, ''].join('\n'))).toEqual([
    expect.stringContaining('the open interest of 10 of 40 contracts cannot be read'),
  ]);
});

test.each([
  ['semicolons', ';'],
  ['tabs', '\t'],
])('accepts %s between cells', (_name, mark) => {
  expect(chain([HEADER, CALL, PUT, ''].join('\n').replaceAll(',', mark)).count).toBe(2);
});

test('accepts all common line ends, and UTF-16', () => {
  const text = [HEADER, CALL, PUT, ''].join('\r');
  expect(chain(text).count).toBe(2);
  const utf16 = new Uint8Array([0xff, 0xfe, ...new Uint8Array(Uint16Array.from(text, (c) => c.charCodeAt(0)).buffer)]);
  expect(runToCompletion(readMarketFile(utf16, { origin: 'a.csv', stated: { asOf: NOON_MS } }))).toMatchObject([
    { kind: 'chain', chain: { count: 2 } },
  ]);
});

test('refuses a column that is named twice', () => {
  expect(rejections(`${HEADER},bid\n${CALL},1\n`)).toEqual(['column bid is named twice']);
});

describe('a bad row is counted, the others are read', () => {
  test.each([
    ['half a row', 'XYZ,2026-08-21T16:00:00-04:00,98.5,XYZ26', 'malformed_row'],
    ['a cell too many', `${PUT},1`, 'malformed_row'],
    ['an invalid symbol', PUT.replace('XYZ260918P', 'XYZ26Z918P'), 'bad_symbol'],
    [
      'an underlying that is not a ticker',
      PUT.replace(/^XYZ,(.*)XYZ260918P00100000/, '"X\u202e YZ",$1'),
      'bad_contract',
    ],
    ['no contract', PUT.replace(',XYZ260918P00100000,2026-09-18', ',,'), 'bad_contract'],
    ['a time without offset', PUT.replace('-04:00', ''), 'bad_as_of'],
    ['the same contract again', CALL, 'duplicate'],
    ['negative open interest', PUT.replace(',50,', ',-50,'), 'bad_value'],
    ['text for a number', PUT.replace(',2.1,', ',abc,'), 'bad_value'],
    ['a number followed by letters', PUT.replace(',2.1,', ',2.1x,'), 'bad_value'],
    ['hexadecimal', PUT.replace(',2.1,', ',0x2,'), 'bad_value'],
    ['infinity', PUT.replace(',2.1,', ',Infinity,'), 'bad_value'],
  ])('%s', (_what, row, reason) => {
    const read = chain(`${HEADER}\n${CALL}\n${row}\n`);
    expect(read.refused).toEqual({ [reason]: 1 });
    expect(read.bid[0]).toBe(1.1);
  });

  test('counts bad rows before the first good row too', () => {
    expect(chain(`${HEADER}\nXYZ,\n${CALL}`).refused).toEqual({ malformed_row: 1 });
  });

  test.each(['NaN', 'nan', 'N/A', 'null', '-', ''])('%p counts as a missing value, not as an error', (text) => {
    const read = chain(`${HEADER}\n${CALL.replace(',1.1,', `,${text},`)}`);
    expect(read.bid[0]).toBeNaN();
    expect(read.refused).toEqual({});
  });

  test('reads thousands separators', () => {
    expect(chain(`${HEADER}\n${CALL.replace(',40,', ',"1,234,567",')}`).openInterest[0]).toBe(1_234_567);
  });
});

describe('refused with a reason', () => {
  test.each([
    ['no open interest', `${HEADER.replace('open_interest', 'oi')}\n${CALL}`, /has no column open_interest/],
    ['no underlying', `${HEADER.replace('underlying', 'name')}\n${CALL}`, /has no column underlying/],
    [
      'neither symbol nor strike',
      'underlying,expiry,put_call,open_interest\nXYZ,2026-09-18,C,1',
      /has no column strike/,
    ],
    ['only a header', `${HEADER}\n`, /none of 0 rows/],
    ['garbage below the header', `${HEADER}\nxx\nyy\n`, /none of 2 rows can be read: .*malformed_row.*2/],
    ['an open quote', `${HEADER}\n${CALL}\n"${PUT}\n${PUT}`, /quotation mark .* never closed/],
    ['no spot and no put-call pairs', `${HEADER}\n${CALL.replace('98.5', '')}`, /XYZ: spot/],
    [
      'only strikes of zero',
      'underlying,expiry,put_call,strike,open_interest,spot\nXYZ,2026-09-18,C,0,1,9',
      /no usable rows/,
    ],
  ])('%s', (_what, text, reason) => {
    expect(rejections(text)).toEqual([expect.stringMatching(reason)]);
  });

  test('one bad chain of a file does not affect the others', () => {
    const deliveries = readText(`${HEADER}\n${CALL.replace('98.5', '')}\n${CALL.replaceAll('XYZ', 'ABC')}`);
    expect(deliveries.map(({ kind }) => kind)).toEqual(['rejection', 'chain']);
  });
});
