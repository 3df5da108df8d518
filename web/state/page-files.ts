import { useEffect, useState } from 'preact/hooks';
import { notify } from './ui.ts';

/** The page loads these files when a view needs them. For each name, a `<meta>` element contains the path of the file. */
export type PageFileName = 'methods' | 'figures' | 'clients' | 'licences';

/** Returns the content of the element `<meta name="zomma-…">`: the path of a file, or the version. */
export function pageFact(name: PageFileName | 'version'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="zomma-${name}"]`)?.content ?? '';
}

/** Loads a JSON file of the page. Rejects if the server does not answer, or if a newer server no longer has the file. */
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
