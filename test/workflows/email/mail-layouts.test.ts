import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { emailThemes, type EmailBrand, type EmailContent } from '#activities/clients/email/content.ts';
import { emailBrand } from '#activities/clients/email/email-brand.ts';
import { renderEmail } from '#activities/clients/email/render.ts';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { renderMailLayouts } from '#tools/generators/render-mail-layouts.ts';
import { mailBrands, mailsOf } from '../../kit/mail-previews.ts';
import { installationEnvironment } from '../../kit/world.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const layouts = Object.fromEntries(
  await Promise.all(
    emailThemes.map(async (theme) => {
      const file = join(root, `activities/clients/email/layout/${theme}.html`);
      return [theme, await readFile(file, 'utf8')] as const;
    }),
  ),
);

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.resetModules();
});

/** A mail with all that a mail may have. @param hostile replaces every text that comes from outside */
async function mailWith(theme: (typeof emailThemes)[number], hostile?: string, brand: Partial<EmailBrand> = {}) {
  const environment = installationEnvironment('layouts', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  const text = (harmless: string) => hostile ?? harmless;
  const url = `https://example.com/${hostile ?? 'page'}`;
  const content: EmailContent = {
    subject: text('Subject'),
    paragraphs: [text('First'), text('Second')],
    items: [{ text: text('With a link'), url }, { text: text('Without') }],
    action: { text: text('Open'), url },
    unsubscribeToken: 'token',
  };
  return renderEmail(content, {
    id: 'id',
    to: 'you@example.com',
    name: text('Jo'),
    theme,
    brand: {
      ...emailBrand(config, new Date(0)),
      supportEmail: text('support@example.com'),
      companyName: text('Example'),
      companyAddress: text('Street 1'),
      copyright: text('Copyright'),
      troubleText: text('Trouble'),
      headerText: text('Header'),
      tagline: text('Tagline'),
      docsUrl: url,
      logoUrl: url,
      headerLogoUrl: url,
      ...brand,
    },
  });
}

/** Tags and comments without the values of their attributes. */
const skeletonOf = (html: string) => (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/="[^"]*"/g, '=""'));

/** What the engine of Word reads: the conditional comments for it, and not those for others. */
const inWord = (html: string) =>
  html
    .replaceAll(/<!--\[if !mso[^\]]*\]><!-->.*?<!--<!\[endif\]-->/gs, '')
    .replaceAll(/<!--\[if lte mso 11\]>.*?<!\[endif\]-->/gs, '')
    .replaceAll(/<!--\[if mso(?: \| IE)?\]>(?<inner>.*?)<!\[endif\]-->/gs, '$<inner>');

const inOtherPrograms = (html: string) => html.replaceAll(/<!--.*?-->/gs, '');

/** Elements that are closed by another tag than their own. */
function misnested(html: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [, slash, name = '', rest = ''] of html.matchAll(/<(\/?)([a-z][\w:]*)([^>]*)>/gi)) {
    if (rest.endsWith('/') || ['br', 'img', 'meta'].includes(name)) continue;
    if (slash === '') open.push(name);
    else if (open.pop() !== name) wrong.push(`</${name}> after ${open.slice(-3).join(' ')}`);
  }
  return [...wrong, ...open.map((name) => `<${name}> is open`)];
}

test('the layouts of mails that are checked in are what MJML makes of their sources', async () => {
  for (const [path, text] of Object.entries(await renderMailLayouts()))
    expect(await readFile(join(root, path), 'utf8'), path).toBe(text);
});

describe.each(mailBrands)('%s mails', (brand) => {
  test('are tables of a fixed width in Word, and tables in other programs', async () => {
    const problems: string[] = [];
    for (const { template, theme, email } of await mailsOf(brand)) {
      const word = inWord(email.html);
      const tagsOf = (name: string) => word.match(new RegExp(`<${name}\\b[^>]*>`, 'g')) ?? [];
      const widths = tagsOf('table').map((table) => /\bwidth="(\d+)"/.exec(table)?.[1]);
      const images = tagsOf('img').filter((image) => !/alt="[^"]*" height="\d+"/.test(image));
      problems.push(
        ...[
          ...misnested(word),
          ...misnested(inOtherPrograms(email.html)),
          ...(email.html.match(/display:\s*(?:inline-)?(?:flex|grid)|position:|float:/g) ?? []),
          ...(word.match(/<!--.*/g) ?? []),
          ...tagsOf('table').filter((table) => !table.includes('role="presentation"')),
          ...images,
          // The page, and its sections within a padding of 8 px.
          ...(widths.filter((width) => width === '600').length === 1 ? [] : ['not one table is 600 wide']),
          ...(widths.filter((width) => width === '584').length > 1 ? [] : ['the sections have no width']),
        ].map((problem) => `${template} ${theme}: ${problem}`),
      );
    }
    expect(problems).toEqual([]);
  });

  test('name their language and direction, keep their colors on dark screens, and have no mark of the layout left', async () => {
    const head = /^<!doctype html>\n<html lang="en" dir="ltr"[^]*<meta name="color-scheme" content="light only">/;
    const names = (await mailsOf(brand))
      .filter(({ email: { html } }) => !head.test(html) || /\{\{|<!-- |undefined/.test(html))
      .map(({ template, theme }) => `${template} ${theme}`);
    expect(names).toEqual([]);
  });

  test('have the same bytes in each process, at any time and in any time zone', async () => {
    const first = (await mailsOf(brand)).map(({ email }) => email);
    vi.resetModules();
    vi.stubEnv('TZ', 'Pacific/Kiritimati');
    vi.useFakeTimers({ now: new Date('2031-12-31T23:59:59Z'), toFake: ['Date'] });
    const again = await import('../../kit/mail-previews.ts');
    expect((await again.mailsOf(brand)).map(({ email }) => email)).toEqual(first);
  });
});

describe.each(emailThemes)('the %s layout', (theme) => {
  test.each([
    ['quotes and tags', `"'><script>alert(1)</script><img src=x onerror=alert(1)>`],
    ['ends of elements', '</title></style></td></table></a><style>*{display:none}</style>'],
    ['conditional comments', '--><![endif]--><!--[if mso]><v:rect/><![endif]-->'],
    ['styles', `;background:url(https://example.net)"}</style>`],
    ['marks of layouts', '{{subject}}<!-- action -->{{url}}<!-- /action --><!-- /items -->'],
    ['patterns of replacements', "$& $1 $$ $` $' $<part>"],
  ])('has the same tags with %s in every text', async (_what, hostile) => {
    const [harmless, attacked] = await Promise.all([mailWith(theme), mailWith(theme, hostile)]);
    expect(skeletonOf(attacked.html)).toEqual(skeletonOf(harmless.html));
    expect(misnested(inWord(attacked.html))).toEqual([]);
    expect(attacked.html.split('&lt;!-- action --&gt;').length > 10).toBe(hostile.includes('<!-- action'));
  });

  test.each([
    ['a color', { colors: { button: 'red;background:url(https://example.net)' } }],
    ['a color', { colors: { card: '#fff" onload="alert(1)' } }],
    ['the line on top', { colors: { accent: '#12345' } }],
    ['the large logo', { logoUrl: 'javascript:alert(1)' }],
    ['the small logo', { headerLogoUrl: 'data:image/svg+xml,x' }],
    ['a link of the footer', { termsUrl: ' javascript:alert(1)' }],
  ])('refuses %s that is none', async (_what, { colors, ...brand }: { colors?: object; [name: string]: unknown }) => {
    const usual = (await loadBrand()).colors;
    const changed = { ...brand, colors: { ...usual, ...colors } };
    await expect(mailWith(theme, undefined, changed)).rejects.toThrow(/is not a color|is not an http or https URL/);
  });

  test('shows colors with six digits', async () => {
    const { colors } = await loadBrand();
    const { html } = await mailWith(theme, undefined, { colors: { ...colors, button: '#a1f' } });
    expect(html).toContain('bgcolor="#aa11ff"');
  });

  test('has checked values in styles, classes and conditional comments, and URLs in links and images', () => {
    const layout = layouts[theme] as string;
    const placesIn = (pattern: RegExp) =>
      [...layout.matchAll(pattern)].flatMap(([text]) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name));
    const checked = /^(?:\w+Color|edge|topEdge|accentLine|radius|cardStyle)$/;
    const inert = [...placesIn(/(?:style|bgcolor|class)="[^"]*"/g), ...placesIn(/<!--\[if.*?<!\[endif\]-->/gs)];
    expect(inert.length).toBeGreaterThan(10);
    expect(inert.filter((name) => !checked.test(name ?? ''))).toEqual([]);
    expect(new Set(placesIn(/(?:href|src)="[^"]*"/g))).toEqual(new Set(['url']));
    expect(placesIn(/<style.*?<\/style>/gs)).toEqual([]);
    const attributes = [...layout.matchAll(/([\w-]+)="[^"]*\{\{/g)].map(([, name]) => name);
    expect([...new Set(attributes)].toSorted((a = '', b = '') => a.localeCompare(b))).toEqual(
      ['alt', 'aria-label', 'bgcolor', 'class', 'href', 'src', 'style'].filter(
        (name) => theme === 'modern' || name !== 'class',
      ),
    );
  });
});

async function loadBrand(): Promise<EmailBrand> {
  const environment = installationEnvironment('layouts', 'postgres://localhost/core', '/nowhere');
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  return emailBrand(config, new Date(0));
}
