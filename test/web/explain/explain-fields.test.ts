import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { PAGE_FIGURES, pageFigures } from '../../../scripts/page-figures.ts';
import { OPERATIONS } from '../../../src/operations/registry.ts';
import type { FigureFile } from '../../../web/data/figure-texts.ts';
import { fieldsName, fieldsOfId } from '../../../web/explain/explain-fields.tsx';
import { parseAddress } from '../../../web/state/address.ts';

const FIELDS = JSON.parse(pageFigures()) as FigureFile['fields'];

test('web/figure-fields.json matches the registry (bun run gen)', () => {
  expect(readFileSync(PAGE_FIGURES, 'utf8'), 'bun run gen').toBe(pageFigures());
});

test('every operation of market data on the page has its figures, each with a sentence and an id that an address may have', () => {
  const shown = OPERATIONS.filter(({ page, ofMarket }) => typeof page === 'string' && ofMarket).map(({ name }) => name);
  expect(Object.keys(FIELDS).toSorted()).toEqual(shown.filter((name) => name !== 'get_gex_view').toSorted());
  const ids = Object.entries(FIELDS).flatMap(([operation, { fields }]) =>
    Object.entries(fields).map(([field, sentence]) => [`${operation}.${field}`, sentence] as const),
  );
  expect(ids.length).toBeGreaterThan(300);
  for (const [id, sentence] of ids) {
    expect([id, sentence]).toEqual([id, expect.stringMatching(/\w.*\.$/s)]);
    expect(parseAddress(`#/SPY/ticker?explain=${id}`).explain).toBe(id);
    expect(fieldsOfId(id)?.field).toBe(id.slice(id.indexOf('.') + 1));
  }
});

test.each([
  ['get_gex_by_expiry', 'GEX and volatility by expiry'],
  ['get_gex_by_expiry.skew_25d', 'skew 25d'],
  ['run_strategic_omni_radar.whipsaw_components.regime', 'whipsaw components, regime'],
])('%s is named %s', (id, name) => {
  expect(fieldsName(fieldsOfId(id)!)).toBe(name);
});

test.each(['gex_flip', 'strike.650', 'toString', 'nothing.at_all'])('%s is no field of an operation', (id) => {
  expect(fieldsOfId(id)).toBeUndefined();
});
