import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ClientError, errorCode } from '../../core/errors.ts';
import { unreadable } from '../rejections.ts';
import { MAPPING_BYTES_MAX } from './mapping.ts';
import type { Stated } from './stated.ts';

/** The name of the mapping that a folder of market data may have. It is for all files of the folder whose columns it names. */
const FOLDER_MAPPING = 'zomma-map.toml';

/** The mapping of a folder: its text, or an empty one without a mapping, and what it states or why it cannot be used. */
export interface FolderMapping {
  readonly text: string;
  readonly stated?: Stated;
  readonly problem?: { readonly origin: string; readonly reason: string };
}

/** The mappings of a folder and its sub-folders. */
export interface FolderMappings {
  /** The texts of all mappings. Empty without a mapping. */
  readonly text: string;
  readonly problems: readonly NonNullable<FolderMapping['problem']>[];
  /** Returns the mapping for the file at a path in the folder: the nearest in or above the folder of the file. */
  of(origin: string): FolderMapping;
}

/** Reads the mappings of a folder. `origins` are the paths of the files in the folder and its sub-folders. Never rejects, like `folderMapping`. */
export async function folderMappings(dir: string, origins: readonly string[]): Promise<FolderMappings> {
  const byFolder = new Map<string, FolderMapping>();
  for (const origin of [FOLDER_MAPPING, ...origins.filter((each) => each.endsWith(`/${FOLDER_MAPPING}`))]) {
    const mapping = await folderMapping(dir, origin);
    if (mapping.text !== '' || mapping.problem) byFolder.set(dirname(origin), mapping);
  }
  const entries = [...byFolder];
  return {
    text: entries.map(([folder, { text }]) => (folder === '.' ? text : `\n# ${folder}\n${text}`)).join(''),
    problems: entries.flatMap(([, { problem }]) => problem ?? []),
    of(origin) {
      let folder = dirname(origin);
      while (folder !== '.' && !byFolder.has(folder)) folder = dirname(folder);
      return byFolder.get(folder) ?? { text: '' };
    },
  };
}

/** Reads the mapping at a path in a folder. Never rejects: a mapping that cannot be used is a problem. */
export async function folderMapping(dir: string, origin = FOLDER_MAPPING): Promise<FolderMapping> {
  let text = '';
  try {
    const path = join(dir, origin);
    const stats = await stat(path);
    if (!stats.isFile() || stats.size > MAPPING_BYTES_MAX) throw unreadable('the mapping is no small file');
    text = await readFile(path, 'utf8');
    // The TOML parser is loaded only if there is a mapping.
    const { parseMapping } = await import('./mapping-file.ts');
    return { text, stated: { mapping: parseMapping(text, origin), isOfFolder: true } };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: '' };
    if (!(error instanceof ClientError) && code === undefined) throw error;
    const reason = error instanceof ClientError ? error.message : `cannot be read (${code})`;
    return {
      text,
      problem: { origin, reason: `${reason}. Until this is mended, no file for which it counts is read` },
    };
  }
}
