/**
 * Runs in a network namespace with loopback only: starts the binary in an empty folder, opens every view in Chromium, and prints what it saw
 * as JSON. `bun isolated-run.ts CHROMIUM FOLDER`.
 */
import { VIEWS } from '../../web/state/address.ts';
import { BINARY, keyOf, startServer } from '../support/process.ts';
import { followAnswers, goTo } from './answers.ts';
import { launchChromium, watch } from './browser.ts';

const [, , executablePath, folder] = process.argv;
const server = await startServer(BINARY, ['start', '--port', '0', '--data-dir', folder!]);
const browser = await launchChromium(executablePath);
const problems: string[] = [];
const origins = new Set<string>();
const words: Record<string, number> = {};
try {
  await server.loaded;
  const key = keyOf(server);
  const page = await browser.newPage();
  watch(page, server.url, problems);
  await followAnswers(page);
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  await page.goto(`${server.url}/#key=${key}`);
  for (const view of VIEWS) {
    await goTo(page, `#/SPY/${view}`);
    words[view] = (await page.textContent('main'))!.length;
  }
} finally {
  await browser.close();
  await server.stop('SIGTERM');
}
process.stdout.write(
  `${JSON.stringify({ problems, origins: [...origins].filter((each) => each !== 'null'), url: server.url, words })}\n`,
);
process.exit();
