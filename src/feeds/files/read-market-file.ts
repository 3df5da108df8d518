import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { isSecondFile } from '../vendors/join-file.ts';
import { unsupportedTable } from '../vendors/unsupported-chains.ts';
import { marketJson } from '../vendors/vendor-json.ts';
import {
  assertMapped,
  isTable,
  unknownTable,
  usualChains,
  vendorChains,
  vendorCloses,
} from '../vendors/vendor-tables.ts';
import { chainCsv } from './chain-rows.ts';
import { closesCsv, dividendsCsv } from './daily-rows.ts';
import { FileHead } from './file-head.ts';
import { type FileFacts, type Format, READING } from './format.ts';
import { isUnmarkedUtf16, utf8Of } from './lines.ts';
import { quoteTable } from './quote-table.ts';

/**
 * Reads a whole file that is not a tape. Detects the format from the content. Returns chains, closes, dividends, or a rejection with the
 * reason. Returns an empty list for files without market data, such as notes and pictures.
 */
export function* readMarketFile(bytes: Uint8Array, file: FileFacts): Steps<Delivery[]> {
  if (isUnmarkedUtf16(bytes)) {
    const reason = 'the file is UTF-16 without its byte-order mark. Save it as UTF-8';
    return [{ kind: 'rejection', origin: file.origin, reason }];
  }
  if (isArchive(bytes)) {
    const reason = 'the file is an archive of other files, or a workbook. Unpack it, or save the table as CSV';
    return [{ kind: 'rejection', origin: file.origin, reason }];
  }
  const head = headOf(bytes);
  const format = head && FORMATS.find(({ claims }) => claims(head, file.stated));
  try {
    const isUnknown = !format || format === unknownTable;
    // The values of a second file belong to the contracts of another file.
    const isOfOther = isUnknown && isSecondFile(file.origin, file.stated);
    if (head && (!file.stated?.isOfFolder || (isUnknown && !isOfOther && isTable(head))))
      assertMapped(head, file.stated);
    if (!format || isOfOther) return [];
    yield READING;
    return yield* format.read({ ...file, bytes: head.bytes, head });
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return [{ kind: 'rejection', origin: file.origin, reason: error.message }];
  }
}

const FORMATS: readonly Format[] = [
  ...[marketJson, unsupportedTable, vendorChains, quoteTable, chainCsv, closesCsv, dividendsCsv, vendorCloses],
  ...[usualChains, unknownTable],
];

/** The first bytes of ZIP archives and workbooks, and of 7z and RAR archives. */
const ARCHIVES = ['PK\x03\x04', '7z\xbc\xaf', 'Rar!'];
/** A tar archive has this word at this position. */
const [TAR, TAR_AT] = ['ustar', 257];

function isArchive(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, TAR_AT + TAR.length)).toString('latin1');
  return ARCHIVES.some((each) => start.startsWith(each)) || start.startsWith(TAR, TAR_AT);
}

/** Returns the head of a text, or `undefined` for binary data. `bytes` are the text or its start. */
export function headOf(bytes: Uint8Array): FileHead | undefined {
  const text = utf8Of(bytes);
  return text && new FileHead(text);
}
