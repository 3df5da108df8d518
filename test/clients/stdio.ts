import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type Connection, connectionOf } from './client.ts';
import type { Command } from './doors.ts';

export const INFO = { name: 'zomma-clients', version: '1.0.0' };

/** The maximum length of a program's stderr output in an error. */
const SAID_MAX = 2_000;

/** The official client over a program's pipes. If the program exits, the error contains its stderr output. */
export async function overStdio(command: Command): Promise<Connection> {
  const client = new Client(INFO);
  const transport = new StdioClientTransport({ ...command, stderr: 'pipe' });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-SAID_MAX);
  });
  try {
    await client.connect(transport);
  } catch (error) {
    await client.close();
    throw new Error(`${(error as Error).message}: ${said}`);
  }
  return connectionOf(client);
}
