import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COEFFICIENTS } from '../../scripts/coefficients.ts';

describe.each(Object.entries(COEFFICIENTS))('assembly/%s', (file, constants) => {
  const source = readFileSync(join(import.meta.dir, '../../assembly', file), 'utf8');
  test.each(Object.entries(constants))('%s', (name, value) => {
    const stated = source.match(new RegExp(`^const ${name}: f64 = (.*);$`, 'm'))?.[1];
    expect(Number(stated)).toBe(value);
  });
});
