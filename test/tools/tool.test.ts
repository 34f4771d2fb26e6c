import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

interface Ended {
  readonly code: unknown;
  readonly said: string;
}

/** Starts a program as `npm run` does. */
function start(program: string, ...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, program), ...args], (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    );
  });
}

const run = (tool: string, ...args: readonly string[]) => start(`tools/commands/${tool}-main.ts`, ...args);

describe('arguments that are no command end a tool with 2, the reason and the usage', () => {
  test.each([
    ['addresses', 'list acme', 'list takes options only, not "acme"', 'release ADDRESS --reason TEXT'],
    ['addresses', 'release ada@example.com', '--reason says why', 'list '],
    [
      'files',
      'restore --missing --all --reason x',
      'restore takes one id, --missing or --all',
      'purge ID --reason TEXT',
    ],
    ['files', 'audit --reason x', 'audit has no option --reason', 'backups '],
    ['operators', 'grant', 'grant takes one person', 'revoke PERSON --reason TEXT'],
    ['billing', 'catalogue', 'catalogue takes one command: check', 'webhook register'],
    ['billing', 'catalogue publish', 'catalogue takes one command: check', 'list '],
    ['billing', 'webhook status --api-version x', 'webhook takes one command: status', 'webhook register'],
    ['billing', 'grant acme registry', 'grant takes the id of an organization', 'revoke ORGANIZATION MODULE'],
    ['billing', 'revoke 01KG9ZT0H8N4P6S2V9X7Z3A5BC lottery', 'revoke takes one module of', '--until'],
    ['billing', 'revoke 01KG9ZT0H8N4P6S2V9X7Z3A5BC registry --until x', 'revoke has no option --until', 'list '],
    ['billing', 'grant 01KG9ZT0H8N4P6S2V9X7Z3A5BC registry --until soon', '--until is not an instant', 'list '],
    ['lifecycle', 'explain acme', 'explain takes the id of an organization, not "acme"', 'spare ORGANIZATION'],
    ['events', 'dance', 'no command "dance"', '--listener NAME'],
    ['work', 'retry', 'retry takes one id', '--kind KIND'],
  ])('npm run %s -- %s', async (tool, line, reason, usage) => {
    const { code, said } = await run(tool, ...line.split(' '));
    expect(code).toBe(2);
    expect(said).toContain(reason);
    expect(said).toContain(`\n\nusage: npm run ${tool} -- COMMAND\n  `);
    expect(said).toContain(usage);
  });
});

test.each([
  ['addresses', 'release ADDRESS --reason TEXT'],
  ['billing', 'catalogue check'],
  ['events', '--listener NAME'],
  ['files', 'purge ID --reason TEXT'],
  ['lifecycle', 'postpone ORGANIZATION --until DAY --reason TEXT'],
  ['operators', 'revoke PERSON --reason TEXT'],
  ['sweep', '--at DAY'],
  ['verify', '--quiet'],
  ['work', '--kind KIND'],
])('npm run %s -- --help prints the usage and needs no server', async (tool, usage) => {
  const { code, said } = await run(tool, 'list', '--help');
  expect(code).toBe(0);
  expect(said).toContain(`usage: npm run ${tool} -- `);
  expect(said).toContain(usage);
});

test.each([
  ['migrations/migrate-main.ts', 'up --help', 'npm run migrate -- status'],
  ['temporal-dev/read-mail-main.ts', '--help', 'npm run -s mail -- preview'],
])('%s %s prints its usage, too', async (program, line, usage) => {
  const { code, said } = await start(program, ...line.split(' '));
  expect([code, said]).toEqual([0, expect.stringContaining(usage)]);
});

test('texts of the usage stand in one column, below what is longer', async () => {
  const { said } = await run('files');
  const rows = said.split('\n').slice(3);
  expect(said.split('\n')[0]).toBe('a command is missing');
  expect(rows.length).toBeGreaterThanOrEqual(6);
  for (const row of rows.filter(Boolean)) expect(row.slice(0, 36)).toMatch(/ {2}$/);
});
