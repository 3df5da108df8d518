/** A text to paste into an MCP client or a shell, as docs/clients.md has it. */
export interface ClientConfig {
  /** The section of the page: `Settings files`. */
  readonly section: string;
  /** For whom the text is: the paragraph before it. */
  readonly purpose: string;
  readonly language: string;
  readonly text: string;
}

/** The address and the key that stand in the texts of the documentation. */
const ADDRESS = /http:\/\/127\.0\.0\.1:8080/g;
export const KEY_PLACEHOLDER = 'ZOMMA_…';

/**
 * Reads the code blocks of docs/clients.md, each with its section and the paragraph before it. The build calls it, so that the page needs no
 * parser.
 */
export function clientConfigs(page: string): ClientConfig[] {
  return page
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const section = part.slice(0, part.indexOf('\n'));
      let purpose = '';
      return [...part.matchAll(/^```(\w+)\n([\s\S]*?)\n```$|^(?![`<|\n])(?:.+\n)+/gm)].flatMap(
        ([paragraph, language, text]) => {
          if (text !== undefined) return [{ section, purpose, language: language!, text }];
          purpose = paragraph.trim().replaceAll('\n', ' ').replace(/:$/, '.');
          return [];
        },
      );
    });
}

/** Returns a text with the address of this server, and with a key if one is given. */
export function filledConfig(text: string, origin: string, key?: string): string {
  const addressed = text.replace(ADDRESS, () => origin);
  return key === undefined ? addressed : addressed.replaceAll(KEY_PLACEHOLDER, () => key);
}
