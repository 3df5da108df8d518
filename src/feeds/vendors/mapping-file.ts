import { parse, TomlError } from 'smol-toml';
import { unreadable } from '../rejections.ts';
import { type Mapping, mappingOf } from './mapping.ts';

/**
 * Parses the TOML text of a mapping. The vendor of the result begins with the name of the file, for messages. Throws a `ClientError` that names
 * the file and the line, or the key, if the text is no mapping.
 */
export function parseMapping(text: string, name: string): Mapping {
  try {
    const mapping = mappingOf(parse(text), name);
    return { ...mapping, vendor: mapping.vendor === name ? name : `${name} (${mapping.vendor})` };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw unreadable(`mapping ${name}, line ${error.line}, column ${error.column}: ${reason}`);
  }
}
