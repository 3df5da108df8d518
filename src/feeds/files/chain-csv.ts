import { tableFormat } from './cells.ts';
import { chainsOf, isChainHeader } from './chain-rows.ts';

/** The format of Zomma's own chain table as CSV text. */
export const chainCsv = tableFormat(isChainHeader, /put_call|underlying/, chainsOf);
