import { existsSync } from 'node:fs';
import { join } from 'node:path';

// Loaded before the tests (bunfig.toml). Builds the kernels and the web terminal if their sources have changed.
const root = join(import.meta.dir, '../..');
if (!existsSync(join(root, 'node_modules/assemblyscript'))) {
  throw new Error('The dependencies are not installed. Run `bun install`, then run the tests again.');
}
const { exitCode, stderr } = Bun.spawnSync([process.execPath, 'build.ts', 'kernels', 'web'], {
  cwd: root,
  stdout: 'ignore',
});
if (exitCode !== 0) throw new Error(`The kernels or the web terminal do not build:\n${stderr}`);
