import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { FolderTransport } from '#activities/clients/email/transport.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stateDir = mkdtempSync(join(tmpdir(), 'core-mail-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/** What `npm run mail` prints of a mail to this address. */
async function printed(to: string, text: string): Promise<string> {
  const transport = new FolderTransport(join(stateDir, 'email'));
  const from = 'core@example.com';
  await transport.send({ key: to, from, to, subject: 'A mail', text, html: '<p>A mail</p>' });
  const environment = { PATH: process.env['PATH'], STACK_STATE_DIR: stateDir };
  const { stdout } = await promisify(execFile)(process.execPath, ['temporal-dev/read-mail-main.ts', to], {
    cwd: root,
    env: environment,
  });
  return stdout.trimEnd();
}

test.each([
  ['an ordinary one', 'you@example.com'],
  ['one with a tag', 'you+tag@example.com'],
  ['one of special characters alone', `${'/'.repeat(64)}@example.com`],
  ['one that differs from it at its end only', `${'/'.repeat(63)}+@example.com`],
])('a mail is found by its address: %s', async (_what, address) => {
  expect(await printed(address, `to ${address}`)).toBe(`to ${address}`);
});

test.each([
  ['letters of other languages', 'Grüße an Łukasz: 1 = 1'],
  ['another script', 'こんにちは、世界。これは確認のためのメールです。'],
  ['a long line', `https://example.com/#token=${'abc='.repeat(60)}`],
])('a mail is printed as it was written: %s', async (what, text) => {
  expect(await printed(`${what.length}@example.com`, text)).toBe(text);
});
