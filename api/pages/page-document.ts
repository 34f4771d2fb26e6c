import type { Config } from '#config/objects/root.ts';
import { html, Html } from './html.ts';
import { link, onward } from './page-parts.ts';
import { pageBrand, type PageBrand } from './page-brand.ts';
import { pagePaths } from './page-paths.ts';
import { pageWords, unknownError, unreachable, type PageWords } from './page-words.ts';

export interface PageContent {
  readonly title: string;
  /** Name of the script in `api/pages/browser`; without it, the page has none. */
  readonly script?: string;
  /** Values that the script reads from the attribute `data-…` of the document. */
  readonly data?: Readonly<Record<string, string>>;
  readonly words?: PageWords;
  readonly content: Html;
  /** For tables: the page is as wide as the window allows. */
  readonly isWide?: true;
  /** The page is where people sign in: it does not lead there. */
  readonly isSignIn?: true;
}

/** A page as a document. @param at the present time */
export function pageDocument(config: Config, at: Date, page: PageContent): string {
  const brand = pageBrand(config, at);
  const { cookie, header } = config.server.csrfprotection;
  const data = { csrfCookie: cookie, csrfHeader: header, ...page.data };
  const title = brand.name === '' ? page.title : `${page.title} · ${brand.name}`;
  return html`<!doctype html>
<html lang="en"${Object.entries(data).map(([name, value]) => html` data-${kebab(name)}="${value}"`)}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/pages/style.css">
${page.script === undefined ? undefined : scripts(page.script, brand, page.words ?? {})}
</head>
<body${page.isWide ? html` class="wide"` : undefined}>
<header>${brandOf(brand)}</header>
<main>
${page.script === undefined ? undefined : html`<noscript><p class="problem">This page needs JavaScript. Turn it on in your browser, then load the page again.</p></noscript>`}
${page.content}
</main>
<footer>
${onward(
  page.isSignIn ? undefined : link(pagePaths.signIn, 'Sign in'),
  brand.application === undefined ? undefined : link(brand.application.url, brand.application.text),
  brand.supportEmail === '' ? undefined : link(`mailto:${brand.supportEmail}`, 'Get help'),
  ...brand.footerLinks.map(({ url, text }) => link(url, text)),
)}
${brand.footer.map((line) => html`<p>${line}</p>`)}
</footer>
</body>
</html>
`.text;
}

/** Data that is no script: the content security policy allows it. */
function scripts(name: string, { supportEmail }: PageBrand, words: PageWords): Html {
  const all = { ...pageWords, ...words, unknown: unknownError(supportEmail), unreachable };
  // A text cannot end the element.
  const data = new Html(JSON.stringify(all).replaceAll('<', '\\u003c'));
  return html`<script type="application/json" id="words">
      ${data}
    </script>
    <script type="module" src="/pages/${name}.js"></script>`;
}

function brandOf({ name, logoUrl }: PageBrand): Html {
  if (logoUrl === '') return html`<span>${name}</span>`;
  return html`<img src="${logoUrl}" alt="${name}" height="40" referrerpolicy="no-referrer" />`;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Scripts, styles and requests are of this server alone; images also of the host of the configured logo. */
export function pagePolicy(config: Config, at: Date): string {
  const { logoUrl } = pageBrand(config, at);
  const images = logoUrl === '' ? "'self'" : `'self' ${new URL(logoUrl).origin}`;
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `connect-src 'self'`,
    `img-src ${images}`,
    `form-action 'self'`,
    `base-uri 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
