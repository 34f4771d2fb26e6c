import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { shows } from '../kit/shows.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** All files that `npm run mail -- preview` writes, by name. */
async function previews(settings: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'core-previews-'));
  folders.push(folder);
  const variables = Object.entries(settings).map(([name, value]) => [
    `CORE_INTEGRATIONS_EMAIL_${name.toUpperCase()}`,
    value,
  ]);
  await promisify(execFile)(process.execPath, ['temporal-dev/read-mail-main.ts', 'preview'], {
    cwd: root,
    env: { PATH: process.env['PATH'], STACK_STATE_DIR: folder, ...Object.fromEntries(variables) },
  });
  const written = join(folder, 'mail-preview');
  const names = await readdir(written);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(written, name), 'utf8')] as const)),
  );
}

/** Values of the settings, each of its own; those of `first` exclude some of the others. */
const first = {
  rooturl: 'https://root.example.com',
  docsurl: 'https://docs.example.com/start',
  CompanyAddress: 'Example Street 1, Vienna',
  HeaderLogoURL: 'https://example.com/small.png',
  LogoURL: 'https://example.com/large.png',
  Copyright: 'All rights of the example',
  TermsURL: 'https://example.com/terms',
  PrivacyURL: 'https://example.com/privacy',
  UnsubscribeURL: 'https://example.com/no-more',
  HeaderText: 'Text of the header',
  CardStyle: 'flat',
  BodyBackgroundColor: '#010203',
  CardBackgroundColor: '#020304',
  HeroBackgroundColor: '#030405',
  ButtonColor: '#040506',
  ButtonTextColor: '#050607',
  HeadingColor: '#060708',
  TextColor: '#070809',
  FooterTextColor: '#08090a',
  AccentBorderColor: '#090a0b',
  Tagline: 'Line above the links',
} as const;
const second = { producturl: 'https://product.example.com', Corporation: 'Example Corporation Ltd.' } as const;

let byFirst: ReadonlyMap<string, string>;
let bySecond: ReadonlyMap<string, string>;
let usual: ReadonlyMap<string, string>;
beforeAll(async () => {
  [byFirst, bySecond, usual] = await Promise.all([previews(first), previews(second), previews({})]);
}, 60_000);

const textOf = (files: ReadonlyMap<string, string>) => [...files.values()].join('\n');

test('texts, links and colours of the configuration are in the mails', () => {
  shows(
    'integrations.email.rooturl',
    'integrations.email.producturl',
    'integrations.email.docsurl',
    'integrations.email.CompanyAddress',
    'integrations.email.Corporation',
    'integrations.email.LogoURL',
    'integrations.email.HeaderLogoURL',
    'integrations.email.Copyright',
    'integrations.email.TermsURL',
    'integrations.email.PrivacyURL',
    'integrations.email.UnsubscribeURL',
    'integrations.email.HeaderText',
    'integrations.email.CardStyle',
    'integrations.email.BodyBackgroundColor',
    'integrations.email.CardBackgroundColor',
    'integrations.email.HeroBackgroundColor',
    'integrations.email.ButtonColor',
    'integrations.email.ButtonTextColor',
    'integrations.email.HeadingColor',
    'integrations.email.TextColor',
    'integrations.email.FooterTextColor',
    'integrations.email.AccentBorderColor',
    'integrations.email.Tagline',
  );
  for (const [name, value] of [...Object.entries(first), ...Object.entries(second)]) {
    const shown = name === 'CardStyle' ? 'border:1px solid' : value;
    expect(textOf(name in first ? byFirst : bySecond), name).toContain(shown);
    expect(textOf(usual), name).not.toContain(shown);
  }
});

test('every mail is there in both themes and as text, of at most 100 KB', () => {
  const names = [...usual.keys()].filter((name) => name.endsWith('.modern.html'));
  expect(names.length).toBeGreaterThan(40);
  for (const name of names) {
    for (const other of [name, name.replace('.modern.', '.classic.'), name.replace('.html', '.txt')]) {
      const file = usual.get(other) ?? '';
      expect(file.length, other).toBeGreaterThan(100);
      expect(Buffer.byteLength(file), other).toBeLessThan(100_000);
      expect(file, other).not.toMatch(/undefined|\[object/);
    }
  }
});

test('the footer leads to a page that has the token and ends nothing by itself', () => {
  expect(bySecond.get('invite.modern.txt')).toMatch(
    /https:\/\/product\.example\.com\/unsubscribe\?email=you%40example\.com#token=[\w.-]{20,}/,
  );
  expect(usual.get('invite.modern.txt')).toContain('/v1/unsubscribe#token=');
  expect(usual.get('password-changed.modern.txt')).not.toMatch(/unsubscribe/i);
});
