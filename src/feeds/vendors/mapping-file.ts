import { parse, TomlError } from 'smol-toml';
import { unreadable } from '../rejections.ts';
import { type Mapping, mappingOf } from './mapping.ts';

/** Parses the TOML text of a mapping. Throws a `ClientError` that names the file and the line, or the key, if the text is no mapping. */
export function parseMapping(text: string, name: string): Mapping {
  try {
    return mappingOf(parse(text), name);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw unreadable(`mapping ${name}, line ${error.line}, column ${error.column}: ${reason}`);
  }
}
