import { expect, test } from 'vitest';
import { renderEmail } from '#activities/clients/email/render.ts';
import { providerUrl } from '#activities/clients/email/from-config.ts';
import { emailBrand } from '#activities/clients/email/email-brand.ts';
import { contentOf } from '#activities/mails/define-mail.ts';
import { newOwnerMail } from '#activities/mails/organizations/new-owner.mail.ts';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { installationEnvironment } from '../../kit/world.ts';

const names = [
  ['line breaks', 'Jo\r\nBcc: all@example.com\r\n\r\nHello'],
  ['HTML', '<img src=x onerror=alert(1)>"\'&'],
  ['a link', 'Win at https://evil.example.net/now or www.evil.example'],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['hidden direction', 'Jo\u202Egpj.exe\u2066'],
] as const;

/** WCAG 2.2, section 1.4.3. */
function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test('without configured colours, all text has a contrast of at least 4.5 to 1', async () => {
  const environment = installationEnvironment('inert', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  const { body, card, button, buttonText, heading, text, footerText } = emailBrand(config, new Date(0)).colors;
  const pairs = [
    [text, card],
    [heading, card],
    [heading, body],
    [buttonText, button],
    [footerText, body],
    [footerText, card],
  ] as const;
  for (const [front, back] of pairs) expect(contrast(front, back), `${front} on ${back}`).toBeGreaterThan(4.5);
});

test('only while server.dev is on, a provider is where a test says', async () => {
  const environment = installationEnvironment('inert', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  const settings = { urls: { providera: 'http://127.0.0.1:9' } };
  const urls = [true, false].map((dev) => providerUrl('providera', { server: { ...config.server, dev } }, settings));
  expect(urls).toEqual(['http://127.0.0.1:9', 'https://api.resend.com']);
});

test.each(names)('a name with %s is inert in a mail', async (_what, name) => {
  const environment = installationEnvironment('inert', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  const email = renderEmail(contentOf(newOwnerMail, newOwnerMail.sample, 'token'), {
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
