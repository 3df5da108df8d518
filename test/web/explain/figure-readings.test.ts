import { describe, expect, test } from 'bun:test';
import { recordedGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import {
  type FigureReading,
  firmnessOf,
  isFlipUnresolved,
  otherReadings,
} from '../../../web/explain/figure-readings.ts';
import { price } from '../../../web/page-format.ts';
import { OPTION_VALUES } from '../../../web/state/address.ts';

describe('the other readings', () => {
  test('each makes one choice otherwise', () => {
    expect(otherReadings({ expiries: '0dte' }).map(({ options }) => options)).toEqual([
      { expiries: '0dte', forward: 'flat' },
      { expiries: '0dte', gamma: 'feed' },
      { expiries: '0dte', iv: 'feed' },
      { expiries: '0dte', smile_dynamics: 'sticky_moneyness' },
      { expiries: '0dte', weight: 'volume' },
      { expiries: '0dte', sign: 'flow' },
    ]);
  });

  test('a choice that is not the default goes back to it', () => {
    const readings = otherReadings({ iv: 'own', sign: 'flow' });
    expect(readings.map(({ name, options }) => [name, options])).toEqual([
      ['flat forwards', { iv: 'own', sign: 'flow', forward: 'flat' }],
      ['feed gamma', { iv: 'own', sign: 'flow', gamma: 'feed' }],
      ['quote volatility', { sign: 'flow' }],
      ['sticky moneyness', { iv: 'own', sign: 'flow', smile_dynamics: 'sticky_moneyness' }],
      ['volume weight', { iv: 'own', sign: 'flow', weight: 'volume' }],
      ['convention', { iv: 'own' }],
    ]);
  });

  test('every option of the analysis has a reading, with a value that the server takes', () => {
    const readings = otherReadings({});
    expect(readings.map(({ option }) => option).toSorted()).toEqual(
      (Object.keys(OPTION_VALUES) as (keyof typeof OPTION_VALUES)[]).toSorted(),
    );
    for (const { option, options } of readings) {
      expect(OPTION_VALUES[option].slice(1).map(String)).toContain(options[option]!);
    }
  });
});

test('the notes of the server say whether the flip is resolved', () => {
  const levels = {
    underlying: 'SPY',
    spot: 1,
    asOf: 0,
    expiry: '',
    source: 'x',
    netGex: 1,
    grossGex: 2,
    byHorizon: {},
  };
  const notes = (flipResolved: boolean) =>
    recordedGexNodes({ ...levels, flipResolved, simulated: true } as never).provenance.notes.join(' ');
  expect(isFlipUnresolved(notes(false))).toBe(true);
  expect(isFlipUnresolved(notes(true))).toBe(false);
});

const reading = (name: string, value: number | null, refusal = ''): FigureReading => ({
  name,
  value,
  refusal,
  option: 'forward',
  options: {},
  isOtherQuestion: false,
});

describe('firmness of a price', () => {
  const judge = (value: number | null, others: FigureReading[], dayMove: number | undefined = 8) =>
    firmnessOf('price', value, others, dayMove, price);

  test('a spread under a quarter of a day’s move is firm', () => {
    expect(judge(650, [reading('a', 649), reading('b', 650.9)])).toEqual({
      isFirm: true,
      text: "Firm: the spread of 3 readings is 1.90, 0.2 × a day's move (8.00).",
    });
  });

  test('a quarter is not firm, and the choice that differs most is named', () => {
    expect(judge(650, [reading('a', 650.5), reading('b', 648.5)])).toEqual({
      isFirm: false,
      text: "Not firm: the spread is 2.00, 0.3 × a day's move (8.00). Largest difference: b, 648.50; without it 0.50, 0.06 × a day's move.",
    });
  });

  test('a reading that the server refuses does not count', () => {
    expect(judge(650, [reading('a', 650), reading('b', null, 'no prints')]).isFirm).toBe(true);
  });

  test('a reading that asks another question does not count, however far it is', () => {
    const volume = { ...reading('volume weight', 100), isOtherQuestion: true };
    expect(judge(650, [reading('a', 650.5), volume])).toMatchObject({ isFirm: true });
    expect(otherReadings({}).map(({ option, isOtherQuestion }) => [option, isOtherQuestion])).toEqual([
      ['forward', false],
      ['gamma', false],
      ['iv', false],
      ['smile_dynamics', false],
      ['weight', true],
      ['sign', true],
    ]);
  });

  test('a reading without a flip is not firm', () => {
    const { isFirm, text } = judge(650, [reading('a', 650), reading('b', null)]);
    expect(isFirm).toBe(false);
    expect(text).toEndWith('Unresolved: b.');
  });

  test('a flip that the page does not resolve', () => {
    expect(judge(null, [reading('a', null), reading('b', null)]).isFirm).toBe(true);
    expect(judge(null, [reading('a', 640), reading('b', null)])).toEqual({
      isFirm: null,
      text: 'Unresolved on this page, but not everywhere: a 640.00.',
    });
  });

  test('nothing is said without a day’s move or without another reading', () => {
    expect(firmnessOf('price', 650, [reading('a', 640)], undefined, price).isFirm).toBeNull();
    expect(judge(650, [reading('a', null, 'no prints')])).toEqual({
      isFirm: null,
      text: 'No other reading has a value.',
    });
  });
});

describe('firmness of a signed amount', () => {
  const judge = (value: number, others: FigureReading[]) => firmnessOf('signed', value, others, 8, String);

  test('one sign is firm, whatever the size', () => {
    expect(judge(-300, [reading('a', -2), reading('b', -310)])).toEqual({
      isFirm: true,
      text: 'Firm in sign: all 3 readings are negative. Largest difference: a, -2.',
    });
  });

  test('the readings with another sign are named', () => {
    expect(judge(-300, [reading('a', 2), reading('b', -310), reading('c', 0)])).toEqual({
      isFirm: false,
      text: 'Not firm in sign: a, c. Largest difference: a, 2.',
    });
  });
});
