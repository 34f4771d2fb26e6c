import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

/** The static checks: what each looks at, and the command that mends what can be mended by itself. */
const checks = [
  { name: 'format', command: [bin('oxfmt'), '--check', '.'], mend: 'npx oxfmt .' },
  { name: 'lint', command: [bin('oxlint'), '--type-aware'], mend: 'npx oxlint --type-aware --fix' },
  { name: 'types', command: [bin('tsc')], mend: undefined },
  { name: 'types of scripts of pages', command: [bin('tsc'), '-p', 'api/pages/browser'], mend: undefined },
  { name: 'dead code', command: [bin('knip')], mend: undefined },
  {
    name: 'printed descriptions',
    command: [process.execPath, 'tools/generators/derive-main.ts', '--check'],
    mend: 'npm run derive',
  },
  {
    name: 'description of the API',
    command: [bin('redocly'), 'lint', '--format=summary', 'docs/reference/openapi.json'],
    mend: undefined,
  },
] as const;

/** All of them run, so that one run shows everything there is to mend. */
const results = await Promise.all(checks.map(run));
process.exitCode = results.every(Boolean) ? 0 : 1;

async function run({ name, command, mend }: (typeof checks)[number]): Promise<boolean> {
  const startedAt = Date.now();
  const [program, ...args] = command;
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.once('close', (status) => resolve(status ?? 1));
  });
  const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
  console.log(
    code === 0
      ? `${name}: ok (${seconds} s)`
      : `${name}: FAILED (${seconds} s)${mend ? `; mend with: ${mend}` : ''}\n${output.trimEnd()}`,
  );
  return code === 0;
}
