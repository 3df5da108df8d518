import { existsSync, readFileSync } from 'node:fs';
import type { Cluster } from '../cluster/join-cluster.ts';
import { authorityPath } from '../http/internal-tls.ts';

/**
 * Makes the certificate of `--tls internal` with `makePair`. Servers that share a database have one authority: the first one registers it.
 * Throws `OperatorError` if the data folder lacks it or has another one. Nothing is made then.
 */
export async function shareAuthority<Pair>(
  cluster: Cluster | undefined,
  { dataDir }: { readonly dataDir: string },
  makePair: () => Promise<Pair>,
): Promise<Pair> {
  const path = authorityPath(dataDir);
  const accept = () => cluster?.accept('authority', readFileSync(path));
  if (existsSync(path)) await accept();
  else await cluster?.requireFile('authority', path);
  const pair = await makePair();
  await accept();
  return pair;
}
