import { describe, expect, test } from 'bun:test';
import type { Delivery } from '../../src/market/feed.ts';
import type { Json } from '../support/provider-faults.ts';
import { CHAINS, chainsOf, reasonsOf } from './provider-market.ts';

/** The format in which a source writes a chain. */
export interface Shape {
  readonly name: string;
  /** Returns the list of options in an answer that has chains. */
  optionsOf(answer: Json): Json[];
  /** Removes the list, or renames it. */
  rename(answer: Json): unknown;
  /** Removes the fields that identify the contract of an option. */
  unname(option: Json): void;
  /** The number of answers that have the options of a chain, one if omitted. Each has other values of them. */
  readonly answersOfChain?: number;
  /** Where the values of an option are. A source may have no volatilities. */
  readonly fields: { readonly openInterest: Path; readonly bid: Path; readonly ask: Path; readonly iv?: Path };
}

type Path = readonly string[];

/** The exchange's delayed quotes, which come over the network and as files. */
export const DELAYED_QUOTES = {
  optionsOf: (answer) => answer.data.options,
  rename: ({ data: { options, ...data }, ...answer }) => ({ ...answer, data: { ...data, contracts: options } }),
  unname: (option) => delete option.option,
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'], iv: ['iv'] },
} satisfies Omit<Shape, 'name'>;

/**
 * The cases that every feed must pass, whatever its source. `read` delivers the chain of CHPT from changed answers: `change` edits the
 * first `times` answers that have options, or all.
 */
export function describeShape(
  shape: Shape,
  read: (change: (answer: Json) => unknown, times?: number) => Promise<Delivery[]>,
): void {
  const { count } = CHAINS.get('CHPT')!;

  describe(`${shape.name}: an answer of another structure is refused`, () => {
    test('the list under another name', async () => {
      expect(reasonsOf(await read(shape.rename)).map(([, reason]) => reason)).toEqual([
        expect.stringMatching(/missing|no options/),
      ]);
    });

    test('no readable option', async () => {
      const deliveries = await read(
        edited((answer) => shape.optionsOf(answer).forEach((each) => void shape.unname(each))),
      );
      expect(reasonsOf(deliveries).map(([, reason]) => reason)).toEqual([
        expect.stringMatching(/none of \d+ (?:options|contracts)/),
      ]);
    });
  });

  describe(`${shape.name}: a bad option is counted, the others are delivered`, () => {
    const readOne = async (edit: (option: Json) => void) =>
      chainsOf(
        await read(
          edited((answer) => edit(shape.optionsOf(answer)[0])),
          1,
        ),
      )[0];

    test('an option without a name', async () => {
      const delivery = await readOne(shape.unname);
      expect(delivery?.chain).toMatchObject({ count: count - 1, refused: { bad_symbol: 1 } });
      expect(delivery?.offered).toBe(count);
    });

    const { openInterest, bid, ask, iv } = shape.fields;
    test.each<[string, Path, unknown, object]>([
      ['negative open interest', openInterest, -5, { bad_value: 1 }],
      ['an infinite bid', bid, '1e999', { bad_value: 1 }],
      ['text for a bid', bid, 'ten', { bad_value: 1 }],
      ['an object for an ask', ask, {}, { bad_value: 1 }],
      ['NaN as text counts as a missing value', ask, 'NaN', {}],
      ['a number as text counts as a number', bid, '1.25', {}],
      ['a crossed quote is stored as quoted', bid, 900, {}],
      ...(iv ? volatilities(iv) : []),
    ])('%s', async (_what, path, value, refused) => {
      const delivery = await readOne((option) => set(option, path, value));
      expect(delivery?.chain).toMatchObject({ count, refused });
    });
  });
}

function volatilities(iv: Path): [string, Path, unknown, object][] {
  return [
    ['a volatility of 1e-5 is stored as given', iv, 1e-5, {}],
    ['a volatility of 0 counts as a missing value', iv, 0, {}],
  ];
}

/** Returns a change that edits the answer in place. */
function edited(edit: (answer: Json) => void): (answer: Json) => unknown {
  return (answer) => {
    edit(answer);
    return answer;
  };
}

function set(record: Json, [first, ...rest]: Path, value: unknown): void {
  if (first === undefined || !(first in record)) return;
  if (rest.length === 0) record[first] = value;
  else set(record[first], rest, value);
}
