import type { EmailBrand, EmailContent, EmailThemeName, EmailView } from './content.ts';
import { inertText } from './inert-text.ts';
import { layoutValues } from './layout-values.ts';
import { fillLayout } from './layout.ts';
import { plainText } from './plain-text.ts';
import type { OutgoingEmail } from './transport.ts';

/** For whom a mail is made, and how it looks. */
interface RenderOptions {
  /** Id of its record. */
  readonly id: string;
  readonly to: string;
  /** Name of the recipient; undefined where a stranger may have chosen it. */
  readonly name: string | undefined;
  readonly theme: EmailThemeName;
  readonly brand: EmailBrand;
}

const maxSubject = 200;

/** A URL with a token in its query or fragment. */
const hasToken = /[#?&]token=/;

/** A mail as it is sent: as plain text and as HTML. The same arguments give the same bytes. */
export function renderEmail(content: EmailContent, { id, to, name, theme, brand }: RenderOptions): OutgoingEmail {
  const { unsubscribeToken: token } = content;
  // People without a name have their address in its place.
  const shown = name === undefined || name.includes('@') ? '' : inertText(name);
  const action = content.action && actionOf(content.action, brand);
  const view: EmailView = {
    subject: oneLine(content.subject).slice(0, maxSubject),
    greeting: shown === '' ? 'Hello,' : `Hello ${shown},`,
    paragraphs: content.paragraphs.map(oneLine),
    items: (content.items ?? []).map((item) => ({ ...item, text: oneLine(item.text) })),
    action: action && { ...action, trouble: brand.troubleText.replaceAll('{ACTION}', () => action.text) },
    support: brand.supportEmail && `Questions? Write to ${brand.supportEmail}.`,
    links: [
      ...linkTo('Documentation', brand.docsUrl),
      ...linkTo('Terms', brand.termsUrl),
      ...linkTo('Privacy', brand.privacyUrl),
      ...(token === undefined ? [] : linkTo('Unsubscribe', unsubscribePage(token, to, brand))),
    ],
    brand,
  };
  const [text, html] = [plainText(view), fillLayout(theme, layoutValues(view, theme))];
  return {
    id,
    from: brand.from,
    to,
    subject: view.subject,
    text,
    html,
    // RFC 8058: a program of the recipient sends the POST, which needs nothing but the URL.
    headers:
      token === undefined
        ? {}
        : {
            'List-Unsubscribe': `<${brand.apiUrl}/v1/unsubscribe?token=${token}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          },
    isTrackable: token === undefined && !hasToken.test(text),
  };
}

function actionOf(action: NonNullable<EmailContent['action']>, { rootUrl }: EmailBrand) {
  if ('url' in action) return action;
  return rootUrl === '' ? undefined : { text: action.text, url: `${rootUrl}${action.path}` };
}

/** The link for people: a page that ends the mails with the token. */
function unsubscribePage(token: string, to: string, { unsubscribeUrl, productUrl, apiUrl }: EmailBrand): string {
  if (unsubscribeUrl !== '') return unsubscribeUrl;
  const page =
    productUrl === '' ? `${apiUrl}/v1/unsubscribe` : `${productUrl}/unsubscribe?email=${encodeURIComponent(to)}`;
  return `${page}#token=${token}`;
}

function linkTo(text: string, url: string): { readonly text: string; readonly url: string }[] {
  return url === '' ? [] : [{ text, url }];
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}
