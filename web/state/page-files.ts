import { useEffect, useState } from 'preact/hooks';
import { notify } from './ui.ts';

/** Names of files that the page loads when a view needs them. A `<meta>` element of the page contains the path of each file. */
export type PageFileName = 'methods' | 'figures' | 'clients' | 'terminal' | 'licences';

/** Returns the content of the element `<meta name="zomma-…">`: the path of a file, or the version. */
export function pageFact(name: PageFileName | 'version'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="zomma-${name}"]`)?.content ?? '';
}

/** Loads a JSON file of the page. Rejects if the server does not answer, or if a newer version of the server does not have this file. */
export async function readPageFile<Content>(name: PageFileName): Promise<Content> {
  const response = await fetch(pageFact(name));
  if (!response.ok) throw new Error('The server has another version now. Reload the page.');
  return (await response.json()) as Content;
}

/** Returns the content of a file, or `undefined` until the file has loaded. */
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
