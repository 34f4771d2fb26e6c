import { expect, test } from 'vitest';
import { renderEmail } from '#activities/clients/email/render.ts';
import { emailBrand } from '#activities/clients/email/email-brand.ts';
import { organizationContents } from '#activities/email/organization-contents.ts';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { installationEnvironment } from '../kit/world.ts';

const names = [
  ['line breaks', 'Jo\r\nBcc: all@example.com\r\n\r\nHello'],
  ['HTML', '<img src=x onerror=alert(1)>"\'&'],
  ['a link', 'Win at https://evil.example.net/now or www.evil.example'],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['hidden direction', 'Jo\u202Egpj.exe\u2066'],
] as const;

test.each(names)('a name with %s is inert in a mail', async (_what, name) => {
  const environment = installationEnvironment('inert', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  const { fixture, content } = organizationContents['new-owner'];
  const email = renderEmail(content(fixture), {
    id: 'id',
    to: 'you@example.com',
    name,
    theme: 'modern',
    brand: emailBrand(config, new Date(0)),
  });
  const [greeting = ''] = email.text.split('\n\n');
  expect(greeting.length).toBeLessThan(130);
  expect(greeting).not.toMatch(/[\r\n\u202E\u2066]|:\/\/|\w\.\w|@/);
  expect(email.html).not.toMatch(/<img|onerror=alert\(1\)>/);
  expect(email.subject).not.toMatch(/[\r\n]/);
});
