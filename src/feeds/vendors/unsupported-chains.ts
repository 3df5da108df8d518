import type { FileHead, TableHeader } from '../files/file-head.ts';
import { type Format, READING } from '../files/format.ts';
import { unreadable } from '../rejections.ts';
import { jsonTable } from './json-rows.ts';
import { plainName } from './mapping.ts';

/** Option chains whose contracts are not those of this market. Their figures would look right and be wrong by a factor, so no mapping reads them. */
const UNSUPPORTED = [
  {
    rows: ['/result/*', '/*'],
    signatures: [['instrumentname', 'underlyingindex', 'markprice']],
    reason:
      'an option chain of Deribit is not supported: its options are priced and settled in coins, and their multiplier is one coin, not 100 shares',
  },
  {
    rows: ['/records/data/*', '/filtered/data/*', '/data/*', '/*'],
    signatures: [
      ['cechangeinopeninterest'],
      ['pechangeinopeninterest'],
      ['changeinopeninterest', 'pchangeinopeninterest'],
      ['chnginoi', 'ltp', 'strike'],
    ],
    reason:
      'an option chain of NSE India is not supported: its open interest counts lots, whose size (the multiplier) the file does not have, and its options settle in rupees',
  },
];

/** Throws a `ClientError` that says why if the JSON is a chain that is not supported. */
export function assertSupported(document: unknown): void {
  for (const { rows, signatures, reason } of UNSUPPORTED) {
    const isOf = (path: string) => hasSignature(jsonTable(document, [path])?.names ?? [], signatures);
    if (rows.some(isOf)) throw unreadable(reason);
  }
}

/** The format of tables of chains that are not supported. Reading one throws a `ClientError` that says why. */
export const unsupportedTable: Format = {
  claims: (head) => headerIn(head) !== undefined,

  *read({ head }) {
    yield READING;
    throw unreadable(reasonFor(headerIn(head)!.cells)!);
  },
};

function headerIn(head: FileHead): TableHeader | undefined {
  return head.findHeader((names) => reasonFor(names) !== undefined, WORDS, WORDS);
}

const WORDS = /underlying_index|changeinopeninterest|chng in oi/;

function reasonFor(names: readonly string[]): string | undefined {
  return UNSUPPORTED.find(({ signatures }) => hasSignature(names, signatures))?.reason;
}

function hasSignature(names: readonly string[], signatures: readonly (readonly string[])[]): boolean {
  const plain = new Set(names.map(plainName));
  return signatures.some((signature) => signature.every((name) => plain.has(name)));
}
