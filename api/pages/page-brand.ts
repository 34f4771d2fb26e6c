import type { Config } from '#config/objects/root.ts';
import { emailBrand } from '#activities/clients/email/email-brand.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { contrast, leastContrast, mixed, readable } from './contrast.ts';

/** A place outside these pages. */
interface PageLink {
  readonly text: string;
  readonly url: string;
}

/** Brand of the operator on the pages, as configured for mails (`integrations.email`). */
export interface PageBrand {
  /** Empty if none is configured. */
  readonly name: string;
  readonly logoUrl: string;
  /** Where people work after they have signed in; undefined if the server does not know. */
  readonly application: PageLink | undefined;
  readonly supportEmail: string;
  readonly footer: readonly string[];
  readonly footerLinks: readonly PageLink[];
}

/** @param at the present time, for the notice of copyright */
export function pageBrand(config: Config, at: Date): PageBrand {
  const brand = emailBrand(config, at);
  const { companyName: name, supportEmail, tagline, copyright, termsUrl, privacyUrl } = brand;
  const links = [
    { text: 'Terms', url: termsUrl },
    { text: 'Privacy', url: privacyUrl },
  ];
  const url = config.ormconfig.notifications.consoleurl || brand.productUrl;
  return {
    name,
    logoUrl: brand.headerLogoUrl || brand.logoUrl,
    application: url === '' ? undefined : { text: `Continue to ${name || 'the application'}`, url },
    supportEmail,
    footer: [tagline, copyright].filter((line) => line !== ''),
    footerLinks: links.filter((link) => link.url !== ''),
  };
}

/** Used where the configuration names no colour. */
const neutral = { page: '#e8eaed', card: '#ffffff', button: '#14171e', text: '#43454b' } as const;
const signals = { danger: '#b3261e', done: '#1b6e3c' } as const;

/**
 * The colours of the pages by the names of their custom properties. Configured colours that would be hard to read are moved towards black or
 * white until they are not.
 */
export const pageColors = onceForEach(({ integrations: { email } }: Config): Readonly<Record<string, string>> => {
  const page = email.BodyBackgroundColor || neutral.page;
  const card = email.CardBackgroundColor || neutral.card;
  const button = email.ButtonColor || neutral.button;
  const text = email.TextColor || neutral.text;
  // Between card and text, so what can be read on it can be read on the card.
  const soft = mixed(card, readable(text, card), 0.06);
  const heading = readable(email.HeadingColor || text, soft);
  return {
    page,
    card,
    soft,
    heading,
    text: readable(text, soft),
    'on-page': readable(email.FooterTextColor || text, page),
    'name-on-page': readable(heading, page),
    button,
    'button-edge': readable(button, card, leastContrast.edge),
    'on-button': readable(email.ButtonTextColor || card, button),
    link: readable(button, soft),
    'link-on-page': readable(button, page),
    line: readable(mixed(card, text, 0.3), card, leastContrast.edge),
    ...(email.AccentBorderColor === '' ? {} : { accent: email.AccentBorderColor }),
    danger: readable(signals.danger, soft),
    done: readable(signals.done, soft),
    scheme: contrast(card, '#000000') > contrast(card, '#ffffff') ? 'light' : 'dark',
  };
});
