import { MIGRATIONS } from '../../src/store/migrations.ts';
import { INVENTED_MIGRATION } from './invented-migration.ts';

// Bun loads this file before the program (`--preload`), so that the program has one migration more: see `NEXT_VERSION` in process.ts.
(MIGRATIONS as string[]).push(INVENTED_MIGRATION);
