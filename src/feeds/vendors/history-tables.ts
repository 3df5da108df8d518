import type { Steps } from '../../core/steps.ts';
import type { Delivery } from '../../market/feed.ts';
import { canonicalTicker } from '../../market/option-symbol.ts';
import { chainCsv, isChainHeader } from '../files/chain-rows.ts';
import { FileHead, type TableHeader } from '../files/file-head.ts';
import { instantIn, timeOfFile } from '../files/file-time.ts';
import type { FileFacts } from '../files/format.ts';
import { type HistoryTable, readHistory } from '../files/history.ts';
import { TableTranslator } from './table-translator.ts';
import { isUsualChain, mappingFor, USUAL_CHAIN } from './vendor-mappings.ts';
import { readTranslated } from './vendor-tables.ts';

/** Returns whether the text is a table of chains, of Zomma or of a vendor, which can be read snapshot by snapshot. */
export function claimsHistory(head: FileHead, file: FileFacts): boolean {
  return historyIn(head, file) !== undefined;
}

/** Reads a table of chains of any length. `pieces` begins the text anew with each call. See `readHistory`. */
export function readChainHistory(
  pieces: () => AsyncIterable<Uint8Array>,
  file: FileFacts,
): AsyncGenerator<Delivery, void> {
  const found = (head: FileHead) => historyIn(head, file);
  let table: ((header: TableHeader, head: FileHead) => HistoryTable) | undefined;
  let start: FileHead | undefined;
  const headerIn = (head: FileHead) => {
    const history = found(head);
    [table, start] = [history?.tableOf, head];
    return history?.header;
  };
  return readHistory(pieces, headerIn, (header) => table!(header, start!));
}

/** Returns the header of a table of chains, and how to read it. The order of the formats is that of `readMarketFile`. */
function historyIn(head: FileHead, file: FileFacts) {
  const { stated } = file;
  const vendor = (names: readonly string[]) => mappingFor(names, 'chain', stated);
  const translated = (mappingOf: (names: readonly string[]) => ReturnType<typeof vendor>) => {
    const words = stated?.mapping ? /./ : CHAIN_WORDS;
    const header = head.findHeader((names) => mappingOf(names) !== undefined, words, words);
    return (
      header && {
        header,
        tableOf: ({ cells }: TableHeader) =>
          translatedHistory(new TableTranslator(mappingOf(cells)!, cells, file), file),
      }
    );
  };
  const own = head.findHeader(isChainHeader, /put_call|underlying/);
  return (
    translated(vendor) ??
    (own && { header: own, tableOf: (header: TableHeader, start: FileHead) => ownHistory(header, start, file) }) ??
    translated((names) =>
      isUsualChain(names) && !names.some((name) => /^(?:calls|puts)$/.test(name)) ? USUAL_CHAIN : undefined,
    )
  );
}

const CHAIN_WORDS = /strike|option|expir|exdate|contract/;

function translatedHistory(translator: TableTranslator, file: FileFacts): HistoryTable {
  return {
    header: translator.header,
    observe: (row) => translator.observe(row),
    decide: () => translator.decide(),
    snapshotOf: (row) => translator.snapshotOf(row),
    timeOf: (ticker, time) => translator.timeOf(ticker, time),
    write: (row) => translator.translate(row),
    read: (bytes) => readTranslated(bytes, file, translator),
  };
}

/** The history of Zomma's own table, whose rows need no translation. */
function ownHistory({ cells, row: line }: TableHeader, head: FileHead, file: FileFacts): HistoryTable {
  const [ticker, time] = [cells.indexOf('underlying'), cells.indexOf('as_of')];
  return {
    header: `${head.firstLines(line + 1, Number.POSITIVE_INFINITY)[line]}\n`,
    observe: () => {},
    decide: () => {},
    snapshotOf: (row) => ({ ticker: canonicalTicker(row.text(ticker)), time: row.text(time) }),
    timeOf: (_ticker, text) => (text === '' ? timeOfFile(file) : instantIn(text)) ?? Number.NaN,
    write: (row) => `${row.rawText()}\n`,
    // The rows of a snapshot have other numbers than those of the table.
    read: (bytes): Steps<Delivery[]> =>
      chainCsv.read({ ...file, bytes, head: new FileHead(bytes), badCell: () => undefined }),
  };
}
