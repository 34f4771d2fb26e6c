import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Prints the newest mail the product wrote to an address: `npm run -s mail -- ADDRESS`. Waits a moment for one to come. */
const root = fileURLToPath(new URL('..', import.meta.url));
const address = process.argv[2];
if (!address) {
  console.error('usage: npm run -s mail -- ADDRESS');
  process.exit(2);
}
const folder = join(process.env['STACK_STATE_DIR'] ?? join(root, '.local'), 'email', address.toLowerCase());

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

/** The plain text of a mail, its quoted-printable encoding undone. */
function textOf(mail: string): string {
  const [, part = mail] = /content-type: text\/plain[\s\S]*?\r?\n\r?\n([\s\S]*?)(?:\r?\n--|$)/i.exec(mail) ?? [];
  return part
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\r', '')
    .trim();
}
