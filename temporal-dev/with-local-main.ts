import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Runs a program of the product against the servers of the last `npm start`: `node temporal-dev/with-local-main.ts PROGRAM
 * [ARGUMENTS…]`. Environment variables and arguments that are already set take precedence.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const file = join(process.env['STACK_STATE_DIR'] ?? join(root, '.local'), 'environment.json');
const [, , program, ...args] = process.argv;
if (!program) {
  console.error('usage: node temporal-dev/with-local-main.ts PROGRAM [ARGUMENTS…]');
  process.exit(2);
}
if (existsSync(file)) {
  const local = JSON.parse(readFileSync(file, 'utf8')) as { variables?: Record<string, string>; file?: string };
  for (const [name, value] of Object.entries(local.variables ?? {})) process.env[name] ??= value;
  if (local.file && !args.some((arg) => /^--config(?:=|$)/.test(arg))) args.push('--config', local.file);
}
process.argv = [process.argv[0] as string, resolve(root, program), ...args];
await import(resolve(root, program));
