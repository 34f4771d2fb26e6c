import { previewMails, type MailPreview } from '#activities/email/preview-mails.ts';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { installationEnvironment } from './world.ts';

/** Configurations of the looks: nothing, and all that can be there, with texts as long as they may be. */
const brands: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bare: {},
  full: {
    COMPANYNAME: 'Example Compliance Corporation',
    COMPANYADDRESS: 'Donaudampfschifffahrtsgesellschaftsstrasse 1234567890/1234567890, 1010 Vienna, Austria',
    CORPORATION: 'Example Corporation',
    HEADERTEXT: 'Compliance without spreadsheets',
    TAGLINE: 'Trust is a process',
    LOGOURL: 'https://cdn.example.invalid/logo.png',
    HEADERLOGOURL: 'https://cdn.example.invalid/header.png',
    TERMSURL: 'https://example.com/terms',
    PRIVACYURL: 'https://example.com/privacy',
    DOCSURL: 'https://docs.example.com/start',
    PRODUCTURL: 'https://product.example.com',
    ROOTURL: 'https://console.example.com',
    SUPPORTEMAIL: 'support@example.com',
    ACCENTBORDERCOLOR: '#1f4fd8',
  },
};

export const mailBrands: readonly string[] = Object.keys(brands);

/** Every mail of the product, in each theme. */
export async function mailsOf(brand: string): Promise<readonly MailPreview[]> {
  const settings = Object.entries(brands[brand] ?? {}).map(([name, value]) => [
    `CORE_INTEGRATIONS_EMAIL_${name}`,
    value,
  ]);
  const environment = {
    ...installationEnvironment('mails', 'postgres://localhost/core', '/nowhere'),
    ...Object.fromEntries(settings),
  };
  const { config } = await loadConfiguration({ environment, directory: '/', stateFolder: '/nowhere' });
  return previewMails(config, new Date('2026-06-01T12:00:00Z'));
}
