import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import type { World } from './world.ts';

/** All mails written for an address, raw, oldest first by name of file. */
export async function mailsTo(world: World, address: string): Promise<string[]> {
  const folder = join(world.mailFolder, address);
  const files = await readdir(folder).catch(() => [] as string[]);
  return Promise.all(files.filter((file) => file.endsWith('.eml')).map((file) => readFile(join(folder, file), 'utf8')));
}

/** Waits until this many mails have come. */
export function waitForMails(world: World, address: string, count = 1, withinMs?: number): Promise<string[]> {
  return eventually(async () => {
    const mails = await mailsTo(world, address);
    return mails.length >= count && mails;
  }, withinMs);
}

/** A mail without the soft line breaks of quoted-printable. */
export function unfolded(mail: string): string {
  return mail.replaceAll(/=\r?\n/g, '');
}

/** The confirmation token in a mail. */
export function tokenIn(mail: string): string {
  return linkIn(mail).hash.slice('#token='.length);
}

/** The first link in a mail that carries a token, or the first one to a path. */
export function linkIn(mail: string, path = ''): URL {
  // Undo quoted-printable: soft line breaks and encoded characters.
  const text = unfolded(mail).replaceAll(/=([0-9A-F]{2})/g, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const links = Array.from(text.matchAll(/https?:[^\s"<>#]+#token=[A-Za-z0-9._-]+/g), ([link]) => new URL(link));
  const link = links.find(({ pathname }) => pathname.endsWith(path));
  if (!link) throw new Error(`no link with a token ${path === '' ? '' : `to ${path} `}in this mail:\n${mail}`);
  return link;
}
