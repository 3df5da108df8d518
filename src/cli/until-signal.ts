import { constants } from 'node:os';

/** Runs `work`. If SIGINT or SIGTERM ends the process, prints `zomma: interrupted` with what `interrupted` returns. */
export async function untilSignal<T>(interrupted: () => string, work: () => Promise<T>): Promise<T> {
  const onSignal = (signal: NodeJS.Signals) => {
    process.stderr.write(`zomma: interrupted ${interrupted()}\n`);
    process.exit(128 + constants.signals[signal]);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
