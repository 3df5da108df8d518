import type { ClientConfig } from '../web/data/client-configs.ts';

/**
 * Returns the code blocks of docs/clients.md. Each entry includes the block's section and the preceding paragraph. The page gets
 * the entries, so that it needs no Markdown parser.
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
