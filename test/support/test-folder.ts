import { afterAll, afterEach, beforeEach } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the tests of a file, which is removed after them. */
export function folderForTests(): string {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a folder before each test of the file or of the `describe`, and removes it afterwards. Returns a function that gives paths in it. */
export function testFolder(): (...parts: string[]) => string {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'zomma-test-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return (...parts) => join(folder, ...parts);
}
