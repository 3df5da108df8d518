import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { parseMarketJson, quotedChain } from '../files/delayed-quotes.ts';
import { type Format, type MarketFile, READING, STEP_ROWS, sourceOf } from '../files/format.ts';
import { unreadable } from '../rejections.ts';
import { fitsSignature, type JsonTable, jsonCells, jsonTable, pointedValues } from './json-rows.ts';
import type { Mapping } from './mapping.ts';
import type { Stated } from './stated.ts';
import { TableTranslator } from './table-translator.ts';
import { assertSupported } from './unsupported-chains.ts';
import { vendorMappings } from './vendor-mappings.ts';
import { readTranslated } from './vendor-tables.ts';

/** The format of JSON: the exchange's delayed quotes, the saved answers of providers, and records with usual names. */
export const marketJson: Format = {
  // A table may begin with a column name in brackets.
  claims: ({ text }) => /^\s*(?:\{|\[\s*[[{\]])/.test(text),

  *read(file) {
    const document = parseMarketJson(new TextDecoder().decode(file.bytes));
    yield READING;
    const own = file.stated?.isOfFolder ? undefined : file.stated?.mapping;
    const snapshot = own ? undefined : yield* quotedChain(document, sourceOf(file));
    return snapshot === undefined ? yield* readVendorJson(document, file) : [{ kind: 'chain', ...snapshot }];
  },
};

/**
 * Reads a chain from the saved answer of a provider. Returns no delivery if no mapping fits the document. Throws a `ClientError` if the chain is
 * not supported, or if the stated mapping is for JSON and none fits.
 */
function* readVendorJson(document: unknown, file: MarketFile): Steps<Delivery[]> {
  assertSupported(document);
  const found = fittingTable(document, file.stated);
  if (found === undefined) {
    const mapping = file.stated?.mapping;
    if (mapping === undefined || mapping.rows.length === 0) return [];
    throw unreadable(
      `the JSON has no rows at ${mapping.rows.join(' or ')}, or they lack a column of the signature of mapping ${mapping.vendor}`,
    );
  }
  const { mapping, table } = found;
  const translator = new TableTranslator(mapping, table.names, file, pointedValues(document, mapping));
  const cells = jsonCells(table);
  yield READING;
  for (const [i, row] of table.rows.entries()) {
    if (i % STEP_ROWS === STEP_ROWS - 1) yield READING;
    cells.select(row);
    translator.observe(cells);
  }
  translator.decide();
  const pieces = [Buffer.from(translator.header)];
  for (let from = 0; from < table.rows.length; from += STEP_ROWS) {
    yield READING;
    const lines = table.rows.slice(from, from + STEP_ROWS).map((row) => {
      cells.select(row);
      return translator.translate(cells);
    });
    pieces.push(Buffer.from(lines.join('')));
  }
  return yield* readTranslated(Buffer.concat(pieces), file, translator);
}

function fittingTable(document: unknown, stated?: Stated): { mapping: Mapping; table: JsonTable } | undefined {
  const own = stated?.mapping ? [stated.mapping] : [];
  for (const mapping of stated?.isOfFolder || own.length === 0 ? [...own, ...vendorMappings()] : own) {
    const table = jsonTable(document, mapping.rows);
    if (table && fitsSignature(table, mapping)) return { mapping, table };
  }
  return undefined;
}
