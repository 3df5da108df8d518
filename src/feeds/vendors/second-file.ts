import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inflated, isGzip } from '../files/gzip.ts';
import { type Content, openWithin } from '../files/opened-file.ts';
import { headOf } from '../files/read-market-file.ts';
import { isJoinFile, readJoinFile } from './join-file.ts';
import { type Mapping, plainName } from './mapping.ts';
import type { JoinedValues, Stated } from './stated.ts';
import { mappingFor, vendorMappings } from './vendor-mappings.ts';

/** Number of bytes that show the columns of a file. */
const HEAD_BYTES = 64 * 1024;

/**
 * Returns the values of the second file that belongs to a table, or `undefined` if its mapping has none, if the table has the values itself, or
 * if there is no such file beside it. `root` is a folder without links. Throws a `ClientError` if the second file cannot be read.
 */
export async function secondFileOf(
  root: string,
  content: Content,
  stated: Stated | undefined,
): Promise<JoinedValues | undefined> {
  const { origin, size } = content.facts;
  const start = await content.slice(0, Math.min(NAMES_BYTES, size));
  if (!mayJoin(start, stated)) return undefined;
  const mapping = joiningMapping(await content.slice(0, Math.min(HEAD_BYTES, size)), stated);
  if (mapping === undefined || isJoinFile(basename(origin), mapping)) return undefined;
  const folder = dirname(origin);
  const names = await readdir(join(root, folder));
  const name = partnerOf(
    basename(origin),
    names.filter((each) => isJoinFile(each, mapping)),
  );
  if (name === undefined) return undefined;
  const path = folder === '.' ? name : `${folder}/${name}`;
  await using file = await openWithin(root, path);
  if (!file) return undefined;
  const second = file.content;
  const isPacked = isGzip(await second.slice(0, 2));
  return await readJoinFile(() => (isPacked ? inflated(second) : second.pieces()), name, mapping, stated?.zone);
}

/** Returns whether a text that begins with some bytes may need a second file. Most files do not, and the search for their header takes time. */
function mayJoin(start: Uint8Array, stated: Stated | undefined): boolean {
  const plain = plainName(Buffer.from(start).toString('latin1'));
  const mappings = stated?.mapping ? [stated.mapping, ...vendorMappings()] : vendorMappings();
  return mappings.some(({ join, signature }) => join !== undefined && signature.every((name) => plain.includes(name)));
}

/** Number of bytes in which the names of the columns are. */
const NAMES_BYTES = 4 * 1024;

/** Returns the mapping of a table that needs a second file, because the table lacks a column that the second file has. */
function joiningMapping(bytes: Uint8Array, stated: Stated | undefined): Mapping | undefined {
  const head = headOf(bytes);
  const joining = (names: readonly string[]) => {
    const mapping = mappingFor(names, 'chain', stated);
    const plain = new Set(names.map(plainName));
    const lacks = Object.keys(mapping?.join?.columns ?? {}).some((field) => !plain.has(plainName(field)));
    return lacks ? mapping : undefined;
  };
  const header = head?.findHeader((names) => joining(names) !== undefined, /strike|option|expir|contract/);
  return header && joining(header.cells);
}

/** Returns the candidate whose name has the longest start in common with the name of a file, such as the ticker and the date. */
export function partnerOf(name: string, candidates: readonly string[]): string | undefined {
  const common = (other: string) => {
    let i = 0;
    while (i < name.length && name[i] === other[i]) i++;
    return i;
  };
  return candidates.toSorted((a, b) => common(b) - common(a))[0];
}
