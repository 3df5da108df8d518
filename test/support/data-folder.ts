import { openData } from '../../src/server/stored-data.ts';

/** Makes a data folder with an empty database, as a server does. Returns its path. */
export function makeDataFolder(dataDir: string): string {
  openData(dataDir).close();
  return dataDir;
}
