import { existsSync } from 'node:fs';
import { join } from 'node:path';

// Loaded before the tests (bunfig.toml). Builds the kernels and the web terminal if their sources have changed.
const root = join(import.meta.dir, '../..');
if (!existsSync(join(root, 'node_modules/assemblyscript'))) {
  throw new Error('The dependencies are not installed. Run `bun install`, then run the tests again.');
}
// The runner of the tests (scripts/test.ts) has built them before. Its processes load this module for each file.
if (process.env.ZOMMA_TESTS_BUILT !== 'true') {
  const build = [process.execPath, 'build.ts', 'kernels', 'web'];
  const { exitCode, stderr } = Bun.spawnSync(build, { cwd: root, stdout: 'ignore' });
  if (exitCode !== 0) throw new Error(`The kernels or the web terminal do not build:\n${stderr}`);
}
