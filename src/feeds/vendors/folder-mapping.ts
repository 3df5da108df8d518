import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Reads the mapping of a folder. Never rejects: a mapping that cannot be used is a problem. */
export async function folderMapping(dir: string): Promise<FolderMapping> {
  try {
    const path = join(dir, FOLDER_MAPPING);
    const stats = await stat(path);
    if (!stats.isFile() || stats.size > MAPPING_BYTES_MAX) throw unreadable('the mapping is no small file');
    const text = await readFile(path, 'utf8');
    // The TOML parser is loaded only if there is a mapping.
    const { parseMapping } = await import('./mapping-file.ts');
    return { text, stated: { mapping: parseMapping(text, FOLDER_MAPPING), isOfFolder: true } };
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: '' };
    if (!(error instanceof ClientError) && code === undefined) throw error;
    const reason = error instanceof ClientError ? error.message : `cannot be read (${code})`;
    return {
      text: '',
      problem: { origin: FOLDER_MAPPING, reason: `${reason}. Until this is mended, no file of the folder is read` },
    };
  }
}
