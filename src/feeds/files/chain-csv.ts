import { hasHeader, readTable } from './cells.ts';
import { chainsOf, isChainHeader } from './chain-rows.ts';
import { type Format, READING } from './format.ts';

/** The format of Zomma's own chain table as CSV text. */
export const chainCsv: Format = {
  claims: (text) => hasHeader(text, isChainHeader),
  *read(file) {
    const table = readTable(file.text, isChainHeader);
    yield READING;
    return yield* chainsOf(table, file);
  },
};
