import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { cleanLine } from '../../core/clean-text.ts';
import { timeOfFile } from '../files/file-time.ts';
import { inflated, isGzip } from '../files/gzip.ts';
import { type Content, openWithin } from '../files/opened-file.ts';
import { headOf } from '../files/read-market-file.ts';
import { columnsIn, isJoinFile, readJoinFile } from './join-file.ts';
import { type Mapping, plainName } from './mapping.ts';
import type { JoinedValues, Stated } from './stated.ts';
import { mappingFor, vendorMappings } from './vendor-mappings.ts';

/** Number of bytes that show the columns of a file. */
const HEAD_BYTES = 64 * 1024;

/** The values of second files, or why there are none. */
interface Second {
  readonly joined?: readonly JoinedValues[];
  readonly notice?: string;
}

/** Maximum number of second files of a table. Several are read if their names do not show which is of the day of the quotes. */
const SECOND_FILES_MAX = 8;

/**
 * Returns the values of the second files that may belong to a table. Returns nothing if the mapping of the table has none, or if the table has the
 * values itself. `root` is a folder without links. Throws a `ClientError` if a second file cannot be read.
 */
export async function secondFilesOf(root: string, content: Content, stated: Stated | undefined): Promise<Second> {
  const { origin, size } = content.facts;
  const start = await content.slice(0, Math.min(NAMES_BYTES, size));
  if (!mayJoin(start, stated)) return {};
  const mapping = joiningMapping(await content.slice(0, Math.min(HEAD_BYTES, size)), stated);
  const [own, folder] = [basename(origin), dirname(origin)];
  if (mapping === undefined || isJoinFile(own, mapping)) return {};
  const names = await readdir(join(root, folder));
  const at = (name: string) => (folder === '.' ? name : `${folder}/${name}`);
  const partners = partnersOf(
    own,
    names.filter((each) => isJoinFile(each, mapping)),
  );
  if (partners.length === 0) return { notice: await whyWithoutSecond(root, names.map(at), own, mapping) };
  const isExact = stated?.mapping !== undefined && mapping.join === stated.mapping.join;
  const joined: JoinedValues[] = [];
  for (const name of partners.slice(0, SECOND_FILES_MAX)) {
    await using file = await openWithin(root, at(name));
    if (!file) continue;
    const second = file.content;
    const isPacked = isGzip(await second.slice(0, 2));
    const pieces = () => (isPacked ? inflated(second) : second.pieces());
    joined.push(await readJoinFile(pieces, name, mapping, { zone: stated?.zone, isExact }));
  }
  const fields = joined[0]?.fields.join();
  return joined.length === 0 ? {} : { joined: joined.filter((each) => each.fields.join() === fields) };
}

/** Maximum number of files in which values of a second file with another name are sought. A folder may have thousands. */
const LOOKED_AT_MAX = 8;
/** What the names of such files are likely to have. */
const LIKELY_NAME = /oi|open|int/i;

/** Says how the second file of a table must be named. Names a file that looks like it, if there is one. */
async function whyWithoutSecond(root: string, origins: readonly string[], own: string, mapping: Mapping) {
  const { file, columns } = mapping.join!;
  const fields = Object.keys(columns).join(', ');
  const stem = own.slice(0, own.length - extname(own).length);
  const example = cleanLine(file.replace('*', `${stem}_`).replaceAll('*', '') + (file.endsWith('*') ? '.csv' : ''), 80);
  const likely = (origin: string) => Number(LIKELY_NAME.test(basename(origin)));
  const others = origins.filter((each) => /\.(?:csv|txt|tsv)$/i.test(each) && basename(each) !== own);
  for (const origin of others.toSorted((a, b) => likely(b) - likely(a)).slice(0, LOOKED_AT_MAX)) {
    await using opened = await openWithin(root, origin);
    const { content } = opened ?? {};
    const head = content && headOf(await content.slice(0, Math.min(NAMES_BYTES, content.facts.size)));
    if (head?.findHeader((names) => isSecondTable(names, mapping), /./) === undefined) continue;
    return `${cleanLine(basename(origin))} looks like its second file with ${fields}, but is not named ${cleanLine(file)}. Name it, for example, ${example}`;
  }
  return `there is no second file ${cleanLine(file)} with ${fields} beside it`;
}

/** Returns whether columns are those of a second file: contracts and wanted fields, and no quotes. */
function isSecondTable(names: readonly string[], mapping: Mapping): boolean {
  const found = columnsIn(names, mapping);
  return found !== undefined && !names.some((name) => /^(?:bid|ask)/.test(plainName(name)));
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

/**
 * Returns the candidates for the second file of a file: those with its day in their names, or else all, and of these the ones whose names have
 * the longest start in common with its name, such as the ticker.
 */
export function partnersOf(name: string, candidates: readonly string[]): readonly string[] {
  const day = timeOfFile({ origin: name, stated: undefined });
  const ofDay = candidates.filter(
    (each) => day !== undefined && timeOfFile({ origin: each, stated: undefined }) === day,
  );
  const common = (other: string) => {
    let i = 0;
    while (i < name.length && name[i] === other[i]) i++;
    return i;
  };
  const possible = ofDay.length > 0 ? ofDay : candidates;
  const most = Math.max(...possible.map(common));
  return possible.filter((each) => common(each) === most).sort();
}
