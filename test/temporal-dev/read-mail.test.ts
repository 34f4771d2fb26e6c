import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { FolderTransport } from '#activities/clients/email/folder-transport.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const stateDir = mkdtempSync(join(tmpdir(), 'core-mail-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

async function send(to: string, text: string, id = to): Promise<void> {
  const transport = new FolderTransport(join(stateDir, 'email'));
  const rest = { subject: 'A mail', text, html: '<p>A mail</p>', headers: {}, isTrackable: true };
  const message = { id, from: 'core@example.com', to, ...rest };
  await transport.send(message, transport.bodyOf(message));
}

/** What `npm run mail` prints before the text of each of these mails. */
const head = 'From: core@example.com\nSubject: A mail\n\n';

/** What `npm run mail` prints of a mail to this address. */
async function printed(to: string, text: string): Promise<string> {
  await send(to, text);
  return print(to);
}

async function print(...args: string[]): Promise<string> {
  const environment = { PATH: process.env['PATH'], STACK_STATE_DIR: stateDir };
  const { stdout } = await promisify(execFile)(process.execPath, ['temporal-dev/read-mail-main.ts', ...args], {
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
  expect(await printed(address, `to ${address}`)).toBe(`${head}to ${address}`);
});

test.each([
  ['letters of other languages', 'Grüße an Łukasz: 1 = 1'],
  ['another script', 'こんにちは、世界。これは確認のためのメールです。'],
  ['a long line', `https://example.com/#token=${'abc='.repeat(60)}`],
])('a mail is printed as it was written: %s', async (what, text) => {
  expect(await printed(`${what.length}@example.com`, text)).toBe(head + text);
});

test('of several mails, the one with a text is printed', async () => {
  const to = 'several@example.com';
  await send(to, 'the wanted one', 'first');
  await send(to, 'a later one', 'second');
  expect(await print(to, 'wanted')).toBe(`${head}the wanted one`);
});
