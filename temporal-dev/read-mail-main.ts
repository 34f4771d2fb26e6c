import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mailFolder } from '#activities/clients/email/mail-folder.ts';
import { writePreviews } from './product/write-previews.ts';

/**
 * Prints sender, subject and text of the newest mail to an address: `npm run -s mail -- ADDRESS`, or the newest that contains a text: `npm run -s mail -- ADDRESS TEXT`.
 * Waits up to ten seconds for one. `npm run -s mail -- preview` writes every mail of the product, as the configuration makes it look, to files.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const [, , address, wanted = ''] = process.argv;
const usage = 'usage: npm run -s mail -- ADDRESS [TEXT], or npm run -s mail -- preview';
if (address === '--help') {
  console.log(usage);
  process.exit();
}
if (!address) {
  console.error(usage);
  process.exit(2);
}
const stateDir = process.env['STACK_STATE_DIR'] ?? join(root, '.local');
if (address === 'preview') {
  console.log(await writePreviews(join(stateDir, 'mail-preview'), process.argv.slice(3)));
  process.exit(0);
}
const folder = mailFolder(join(stateDir, 'email'), address.toLowerCase());

for (const giveUpAt = Date.now() + 10_000; ;) {
  const text = await newest();
  if (text !== undefined) {
    console.log(text);
    break;
  }
  if (Date.now() > giveUpAt) {
    console.error(`no mail to ${address}${wanted && ` with the text "${wanted}"`} below ${folder}`);
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
  for (const { path } of files.toSorted((a, b) => b.at - a.at)) {
    const mail = await readFile(path, 'utf8');
    const text = textOf(mail);
    if (text.includes(wanted)) return `${headOf(mail)}\n\n${text}`;
  }
  return undefined;
}

/** Sender and subject of a mail, with their encoded words decoded (RFC 2047). */
function headOf(mail: string): string {
  const head = (mail.split(/\r?\n\r?\n/, 1)[0] ?? '').replaceAll(/\r?\n[ \t]+/g, ' ');
  return ['From', 'Subject']
    .map((name) => {
      const value = new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
      return `${name}: ${decodedWords(value)}`;
    })
    .join('\n');
}

function decodedWords(value: string): string {
  return value
    .replaceAll(/\?= +=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_word, coding: string, text: string) =>
      coding.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString()
        : quotedPrintable(text.replaceAll('_', ' ')),
    );
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
