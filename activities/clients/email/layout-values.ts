import type { EmailThemeName, EmailView } from './content.ts';
import type { LayoutValues } from './layout.ts';

/**
 * Values for the layouts. Escaping does not make a color in a style or a URL in a link harmless, so these are checked here.
 * @throws Error for a color that is not hexadecimal and for a URL that is not http or https
 */
export function layoutValues(view: EmailView, theme: EmailThemeName): LayoutValues {
  const { greeting, paragraphs, items, action, support, links, brand, subject } = view;
  const { companyName, headerText, logoUrl, productUrl } = brand;
  const smallLogoUrl = brand.headerLogoUrl || (theme === 'classic' ? logoUrl : '');
  const logoText = smallLogoUrl === '' ? companyName : '';
  const hasLetterhead = smallLogoUrl !== '' || logoText !== '';
  const accentLine = brand.colors.accent === '' ? 'none' : `4px solid ${hexColor(brand.colors.accent)}`;
  const isFlat = brand.cardStyle === 'flat';
  const edge = isFlat ? '1px solid #a6a9ae' : 'none';
  const address = [companyName, brand.companyAddress].filter((line) => line !== '').join(', ');
  return {
    ...colorsOf(brand.colors),
    subject,
    // Programs show it beside the subject in their lists.
    preheader: paragraphs[0] ?? '',
    companyName,
    headerText,
    logoText,
    smallLogo: linksTo(smallLogoUrl),
    largeLogo: linksTo(logoUrl),
    productLink: hasLetterhead ? linksTo(productUrl) : [],
    letterhead: hasLetterhead ? [{}] : [],
    header: hasLetterhead || headerText !== '' ? [{}] : [],
    cardStyle: brand.cardStyle,
    edge,
    accentLine,
    topEdge: accentLine === 'none' ? edge : accentLine,
    radius: isFlat ? '0' : '12px',
    paragraphs: texts([greeting, ...paragraphs]),
    list: items.length === 0 ? [] : [{ items: items.map(({ text, url = '' }) => ({ text, link: linksTo(url) })) }],
    action: action === undefined ? [] : [{ ...action, url: webUrl(action.url) }],
    support: texts([support]),
    tagline: texts([brand.tagline]),
    footer: texts([address, brand.copyright]),
    footerLinks:
      links.length === 0
        ? []
        : [{ links: links.map(({ text, url }, at) => ({ text, url: webUrl(url), separator: at === 0 ? [] : [{}] })) }],
  };
}

function texts(lines: readonly string[]): { readonly text: string }[] {
  return lines.filter((text) => text !== '').map((text) => ({ text }));
}

/** @param url empty: no link */
function linksTo(url: string): { readonly url: string }[] {
  return url === '' ? [] : [{ url: webUrl(url) }];
}

function webUrl(url: string): string {
  if (!/^https?:\/\//i.test(url)) throw new Error(`${JSON.stringify(url)} is not an http or https URL`);
  return url;
}

function colorsOf(colors: EmailView['brand']['colors']): { readonly [name: string]: string } {
  const { accent: _line, ...shown } = colors;
  return Object.fromEntries(Object.entries(shown).map(([name, color]) => [`${name}Color`, hexColor(color)]));
}

/** The color with six digits, which Outlook needs. */
function hexColor(color: string): string {
  if (!/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color))
    throw new Error(`${JSON.stringify(color)} is not a color as #rrggbb`);
  return color.length === 4 ? color.replaceAll(/[0-9a-f]/gi, '$&$&') : color;
}
