import { useEffect, useState } from 'preact/hooks';
import { notify } from './ui.ts';

/** Files that the page reads when a view needs them. The page names the path of each. */
export type PageFileName = 'methods' | 'figures' | 'clients' | 'terminal' | 'licences';

/** Returns what the page's `<meta name="zomma-…">` says: the path of a file, or the version. */
export function pageFact(name: PageFileName | 'version'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="zomma-${name}"]`)?.content ?? '';
}

/** Reads a file of JSON. Rejects if the server does not answer, or has been replaced by another version without this file. */
export async function readPageFile<Content>(name: PageFileName): Promise<Content> {
  const response = await fetch(pageFact(name));
  if (!response.ok) throw new Error('The server has another version now. Reload the page.');
  return (await response.json()) as Content;
}

/** Returns the content of a file, or undefined until it has arrived. */
export function usePageFile<Content>(name: PageFileName): Content | undefined {
  const [content, setContent] = useState<Content>();
  useEffect(() => {
    readPageFile<Content>(name).then(
      (read) => setContent(() => read),
      (error: Error) => notify(error.message),
    );
  }, [name]);
  return content;
}
