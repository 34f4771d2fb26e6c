import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { configReadsFile } from './config-reads-file.ts';

const seen = new Set<string>();

/** Notes that code outside config/ read a leaf; once per process. */
export function recordRead(leafPath: string): void {
  if (seen.has(leafPath)) return;
  seen.add(leafPath);
  appendFileSync(join(inject('stack').folder, configReadsFile), `${leafPath}\n`);
}
