import { useEffect, useState } from 'preact/hooks';

/** Files that the page reads when a view needs them. The page names the path of each. */
export type PageFileName = 'kernels' | 'methods' | 'clients' | 'benchmarks' | 'reference' | 'licences';

/** Returns what the page's `<meta name="zomma-…">` says: the path of a file, or the version. */
export function pageFact(name: PageFileName | 'version'): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="zomma-${name}"]`)?.content ?? '';
}

/** Reads a file. Rejects if the server does not answer, or has been replaced by another version without this file. */
export async function readPageFile(name: PageFileName): Promise<string> {
  const response = await fetch(pageFact(name));
  if (!response.ok) throw new Error(`The server has no file ${name} for this page. Reload the page.`);
  return response.text();
}

/** Returns the text of a file, or undefined until it has arrived. */
export function usePageFile(name: PageFileName): string | undefined {
  const [text, setText] = useState<string>();
  useEffect(() => {
    readPageFile(name).then(setText, (error: Error) => setText(error.message));
  }, [name]);
  return text;
}
