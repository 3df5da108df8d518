import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OptionalKind, type TSchema } from '@sinclair/typebox';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import { computeLevels, type Service, startService } from '../support/service.ts';
import { IS_FULL } from '../support/size.ts';
import { folderForTests } from '../support/test-folder.ts';

/**
 * Arguments at the bounds of their schemas, on chains at the bounds of what files may hold. Every route and tool answers or names the field
 * that it cannot compute with. No request fails.
 */
const CASES_EACH = IS_FULL ? 400 : 80;

const folder = folderForTests();
let service: Service;
beforeAll(async () => {
  for (const [ticker, spot, strikes, prices] of CHAINS) {
    for (const day of ['2026-08-20', '2026-08-21'])
      writeFileSync(join(folder, `${ticker}-${day}.csv`), chainOf(ticker, day, spot, strikes, prices));
  }
  service = await startService({ feed: `files:${folder}` });
  await computeLevels(service);
});
afterAll(() => service.close());

const CHAINS: readonly [ticker: string, spot: number, strikes: readonly number[], price: (spot: number) => number][] = [
  ['PLAIN', 100, [80, 90, 95, 100, 105, 110, 120], (spot) => spot / 20],
  ['TWIN', 10, [8, 9, 9.5, 10, 10.5, 11, 12], (spot) => spot / 20],
  ['SMALL', 1e-6, [0.001, 0.002, 1, 99_999], () => 1e-6],
  ['LARGE', 1e9, [0.001, 1, 99_999, 99_999.999], () => 1e9],
];
const EXPIRIES = ['2026-08-21', '2026-08-24', '2026-09-18', '2027-01-15', '2099-12-31', '9999-12-31'];

function chainOf(
  ticker: string,
  day: string,
  spot: number,
  strikes: readonly number[],
  price: (spot: number) => number,
): string {
  const rows = EXPIRIES.flatMap((expiry) =>
    strikes.flatMap((strike, i) =>
      ['C', 'P'].map((side) =>
        [
          ...[ticker, `${day}T10:00:00-04:00`, spot, expiry, side, strike],
          ...[price(spot), price(spot), price(spot), 1e9, i % 2 === 0 ? 1e9 : 1, i % 3 === 0 ? 100 : 1e-4],
        ].join(','),
      ),
    ),
  );
  return `underlying,as_of,spot,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv\n${rows.join('\n')}\n`;
}

/** Texts by the name of the field. The bounds of a number come from its schema. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  ticker: ['PLAIN', 'SMALL', 'LARGE', 'plain', 'ZZZZ'],
  single_name_ticker: ['PLAIN', 'SMALL', 'NVDA'],
  with: ['TWIN', 'SMALL', 'LARGE'],
  target_expiry: ['0001-01-01', '2026-09-18', '9999-12-31'],
  expiry: ['2026-09-18', '2099-12-31', '9999-12-31'],
  expiries: ['all', '0dte', '2099-12-31', '9999-12-31', 'next:1', 'next:3650'],
  smile_dynamics: ['sticky_moneyness', 'ssr', 'ssr=0', 'ssr=2.5'],
  from: ['0001-01-01', '2026-08-21', '9999-12-31'],
  to: ['0001-01-01', '2026-08-21', '9999-12-31'],
  tickers: ['TWIN', 'LARGE', 'NOSUCH'],
  where: ['iv_rank>50', 'net_gex_mil<0', 'regime=negative_gamma', 'iv_rank>1e300', 'nonsense', '>'],
  compare_with: ['previous_close', '0001-01-01', '2026-08-21', '9999-12-31'],
  since: ['previous_close', '0001-01-01', '2026-08-21', '9999-12-31'],
  at: ['1970-01-01', '2026-08-21', '9999-12-31'],
  cursor: ['PLAIN~1~1', '0'],
};

function valuesOf(name: string, schema: TSchema): unknown[] {
  const { minimum, exclusiveMinimum, maximum, type, enum: words, anyOf } = schema;
  if (words) return words;
  if (type === 'array') {
    const each = valuesOf(name, schema.items);
    return [...each.map((value) => [value]), each.slice(0, schema.maxItems)];
  }
  if (TEXTS[name]) return [...TEXTS[name]];
  const number = anyOf?.find((each: TSchema) => each.type === 'number' || each.type === 'StringEnum' || each.enum);
  if (number) return valuesOf(name, number);
  if (type === 'boolean') return [true, false];
  if (type !== 'number' && type !== 'integer') throw new Error(`no values are known for ${name}`);
  const least = minimum ?? (exclusiveMinimum === undefined ? -1e300 : exclusiveMinimum + 5e-324);
  const most = maximum ?? 1e300;
  const inner = [0, 1, -1, 1e-8, 30, 1e6].filter((each) => each > least && each < most);
  return [...new Set([least, most, ...inner.filter((each) => type === 'number' || Number.isInteger(each))])];
}

/** Returns the same cases on every run. A linear congruential generator picks the values. */
function casesOf(properties: Readonly<Record<string, TSchema>>, count: number): Record<string, unknown>[] {
  let state = 1;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const choices = Object.entries(properties).map(([name, schema]) => [name, valuesOf(name, schema), schema] as const);
  return Array.from({ length: count }, () =>
    Object.fromEntries(
      choices.flatMap(([name, values, schema]) => {
        // Half of the cases omit an optional field. Otherwise most code behind the other fields would never be reached.
        return OptionalKind in schema && next(2) === 0 ? [] : [[name, values[next(values.length)]]];
      }),
    ),
  );
}

const ROUTES = OPERATIONS.flatMap((operation) => (operation.rest ? [{ operation, rest: operation.rest }] : []));

const FACES: readonly [name: string, ask: () => AsyncGenerator<[asked: string, Response]>][] = [
  ...ROUTES.map(({ operation, rest }): [string, () => AsyncGenerator<[string, Response]>] => [
    `${rest.method} ${rest.path}`,
    async function* () {
      for (const args of casesOf((rest.input ?? operation.input).properties, CASES_EACH)) {
        const path = rest.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(args[name])));
        const query = Object.entries(args).filter(([name]) => !rest.path.includes(`{${name}}`));
        const address =
          rest.method === 'GET' ? `${path}?${new URLSearchParams(query as [string, string][])}` : rest.path;
        yield [
          `${address} ${JSON.stringify(args)}`,
          await service.request(rest.method, address, rest.method === 'POST' ? { body: args } : {}),
        ];
      }
    },
  ]),
  ...TOOLS.map((tool): [string, () => AsyncGenerator<[string, Response]>] => [
    `tool ${tool.name}`,
    async function* () {
      for (const body of casesOf(tool.input.properties, CASES_EACH)) {
        for (const view of ['', '?extended=true']) {
          const path = `/api/v1/tools/${tool.name}${view}`;
          yield [`${path} ${JSON.stringify(body)}`, await service.request('POST', path, { body })];
        }
      }
    },
  ]),
];

let asked = 0;
test.each(FACES)('%s', async (_name, ask) => {
  const failed: string[] = [];
  let answered = 0;
  for await (const [what, response] of ask()) {
    asked++;
    if (response.status >= 500) {
      const { error } = (service.observations.findLast(({ kind }) => kind === 'request_failed') ?? {}) as {
        error?: unknown;
      };
      failed.push(`${response.status} ${what}: ${error}`);
    } else if (response.ok) answered++;
    await response.body?.cancel();
  }
  expect(failed).toEqual([]);
  expect(answered).toBeGreaterThan(0);
});

test('the cases sent more than 1,000 requests', () => {
  expect(asked).toBeGreaterThan(1_000);
});
