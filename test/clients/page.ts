import { delimiter, dirname, join } from 'node:path';
import { BINARY, ROOT } from '../support/process.ts';
import type { Service } from './service.ts';

export const PAGE = join(ROOT, 'docs/clients.md');
/** Time limit for a block without output. */
const BLOCK_MS_MAX = 60_000;

/** A block of the page that can be run. */
export interface Block {
  readonly line: number;
  readonly language: 'json' | 'sh' | 'ts';
  readonly text: string;
}

/** The blocks of a page, without those marked as not run. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/(<!-- not run -->\n\n)?^```(json|sh|ts)\n([\s\S]*?)^```$/gm)]
    .filter(([, skipped]) => !skipped)
    .map(({ index, 2: language, 3: text }) => ({
      line: page.slice(0, index).split('\n').length,
      language: language as Block['language'],
      text: text!,
    }));
}

/** Runs a block as a reader would, with this service's address, key and data folder. Rejects with the output if it contains no answer. */
export async function runBlock({ language, text }: Block, service: Service): Promise<void> {
  const filled = text
    .replaceAll('http://127.0.0.1:8080', service.wire.url)
    .replaceAll('ZOMMA_…', service.key)
    .replaceAll('/var/lib/zomma', service.dataDir);
  const said = await SPOKEN[language](filled, service.dataDir);
  // A settings file or a program passes if a tool call with it returns an answer.
  if (!said.includes('call_wall')) throw new Error(said);
}

const SPOKEN: Record<Block['language'], (text: string, folder: string) => Promise<string>> = {
  ts: (text, folder) => spoken([process.execPath, '-'], folder, text),
  sh: (text, folder) => spoken(['sh', '-c', text], folder),
  async json(text, folder) {
    const file = join(folder, 'settings.json');
    await Bun.write(file, text);
    const inspector = ['npx', '-y', '@modelcontextprotocol/inspector', '--cli', '--config', file, '--server', 'zomma'];
    const call = [
      '--method',
      'tools/call',
      '--tool-name',
      'get_live_gex_nodes',
      '--tool-args-json',
      '{"ticker":"SPY"}',
    ];
    return spoken([...inspector, ...call], folder);
  },
};

/** The output of a command on stdout and stderr. The command runs in the package folder, with `zomma` on the path. */
async function spoken(command: string[], home: string, stdin = ''): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: import.meta.dir,
    env: {
      ...process.env,
      PATH: `${dirname(BINARY[0]!)}${delimiter}${process.env.PATH}`,
      // The programs store their files and keys in a temporary home folder.
      HOME: home,
      MCP_INSPECTOR_SECRET_STORE: 'memory',
    },
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: BLOCK_MS_MAX,
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return (await child.exited) === 0 ? stdout : `${stdout}\n${stderr}`;
}
