import { arch, cpus, platform, totalmem } from 'node:os';
import { measureAccuracy } from '../bench/accuracy.ts';
import { measureSpeed } from '../bench/speed.ts';
import type { CliCommand } from './cli-command.ts';
import { print } from './csv/streams.ts';

/** Adds `zomma bench`, which measures speed and accuracy of the kernels on this machine. */
export function addBench(program: CliCommand): void {
  program
    .command('bench')
    .description('Measure the speed and the accuracy of the numeric kernels on this machine.')
    .json()
    .option('--quick', 'measure in about a second, with less exact results')
    .addHelpText(
      'after',
      `
The times are for one core, and include the time to copy the columns in and out of the memory of the kernels.
An error is given as a multiple of the error that one rounding of each input to a double can cause.`,
    )
    .examples('zomma bench', 'zomma bench --json > bench.json')
    .action((options: { json?: boolean; quick?: boolean }) => {
      if (process.stderr.isTTY) process.stderr.write('measuring …\n');
      const machine = {
        processor: cpus()[0]?.model ?? 'unknown',
        cores: cpus().length,
        memory_gib: Math.round(totalmem() / 2 ** 30),
        system: `${platform()} ${arch()}`,
        bun: Bun.version,
      };
      const speed = measureSpeed(options.quick ? 0.1 : 1);
      const accuracy = measureAccuracy();
      if (options.json) return print(JSON.stringify({ machine, speed, accuracy }));
      const lines = [
        `${machine.processor}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}, Bun ${machine.bun}`,
        '',
        `${'speed (one core, columns copied in and out)'.padEnd(56)} ns per unit  million/s`,
        ...speed.map(
          ({ kernel, unit, ns }) =>
            `  ${`${kernel}, per ${unit}`.padEnd(56)} ${ns.toFixed(2).padStart(9)} ${(1000 / ns).toFixed(1).padStart(10)}`,
        ),
        '',
        `${'accuracy (1 = error from rounding each input once)'.padEnd(56)} worst error  inputs of the worst row`,
        ...accuracy.map(
          ({ kernel, output, worstScaledError, at }) =>
            `  ${`${kernel} ${output}`.padEnd(56)} ${worstScaledError.toFixed(2).padStart(9)}  ${formatInputs(at)}`,
        ),
      ];
      print(lines.join('\n'));
    });
}

function formatInputs(inputs: Readonly<Record<string, number>>): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
