import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mailFolder } from '#activities/clients/email/mail-folder.ts';

/** Prints the newest mail to an address: `npm run -s mail -- ADDRESS`. Waits up to ten seconds for one. */
const root = fileURLToPath(new URL('..', import.meta.url));
const address = process.argv[2];
if (!address) {
  console.error('usage: npm run -s mail -- ADDRESS');
  process.exit(2);
}
const stateDir = process.env['STACK_STATE_DIR'] ?? join(root, '.local');
const folder = mailFolder(join(stateDir, 'email'), address.toLowerCase());

for (const giveUpAt = Date.now() + 10_000; ;) {
  const file = await newest();
  if (file) {
    console.log(textOf(await readFile(file, 'utf8')));
    break;
  }
  if (Date.now() > giveUpAt) {
    console.error(`no mail to ${address} below ${folder}`);
    process.exit(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
}

async function newest(): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith('.eml'))
      .map(async (name) => ({ path: join(folder, name), at: (await stat(join(folder, name))).mtimeMs })),
  );
  return files.toSorted((a, b) => b.at - a.at)[0]?.path;
}

/** The decoded plain text of a mail. */
function textOf(mail: string): string {
  const [, head = '', part = mail] =
    /(content-type: text\/plain[\s\S]*?)\r?\n\r?\n([\s\S]*?)(?:\r?\n--|$)/i.exec(mail) ?? [];
  const text = /content-transfer-encoding: base64/i.test(head)
    ? Buffer.from(part, 'base64').toString()
    : quotedPrintable(part);
  return text.replaceAll('\r', '').trim();
}

/** Decodes to bytes first, because one character can be several bytes. */
function quotedPrintable(text: string): string {
  const bytes = Buffer.from(text.replaceAll(/=\r?\n/g, '')).toString('latin1');
  const decoded = bytes.replaceAll(/=([0-9A-F]{2})/gi, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(decoded, 'latin1').toString();
}
