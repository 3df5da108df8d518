import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decimalIn } from '../../src/core/decimal-bytes.ts';

const read = (text: string) => decimalIn(Buffer.from(`9${text}9`), 1, Buffer.byteLength(text) + 1);

test.each([
  ...['0', '-0', '+1', '.5', '5.', '-12.25', '000012', '0.000000000000000000001', '123456789012345'],
  ...['2.2504926550292965', '362.8599853515625', '0.95310000000000005826', '123456789012345678'],
])('reads %s', (text) => {
  expect(read(text)).toBe(Number(text));
});

test.each([
  ...['', '-', '+', '.', '-.', 'e5', '1e', '1e+', '1e5.', '1.2.3', '1_000', '1,000', '1\u2009000', '0x10', ' 1', '--1'],
  ...['9007199254740993', 'nan', 'inf', 'Infinity', '1e3', '1e-05', '2.5E+3', '9'.repeat(400), `0.${'0'.repeat(30)}1`],
])('leaves %j to the parser of texts', (text) => {
  expect(read(text)).toBeNaN();
});

test('rounds like the parser of texts, also near the middle between two doubles', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 });
  const middle = fc
    .double({ min: 1e-5, max: 1e5, noNaN: true })
    .map((value) => (BigInt(Math.round(value * 2 ** 60)) * 10n ** 24n) / 2n ** 60n)
    .map(
      (scaled) =>
        `${scaled / 10n ** 24n}.${String(scaled % 10n ** 24n)
          .padStart(24, '0')
          .slice(0, 22)}`,
    );
  const random = fc
    .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), digits)
    .map((parts) => parts.join(''));
  const shown = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toPrecision(17));
  let exact = 0;
  fc.assert(
    fc.property(fc.oneof(middle, random, shown), (text) => {
      const value = read(text);
      if (Number.isNaN(value)) return;
      exact++;
      expect(value).toBe(Number(text));
    }),
    { numRuns: 20_000 },
  );
  expect(exact).toBeGreaterThan(10_000);
});
