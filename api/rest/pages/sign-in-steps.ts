import { publicApiUrl } from '#config/objects/public-api-url.ts';
import type { Config } from '#config/objects/root.ts';
import { html, type Html } from '../../pages/html.ts';
import { emailField, field, form, onward, passwordField, step, toStep } from '../../pages/page-parts.ts';
import { configuredProvider, providerNames } from '../identity/providers/configured-provider.ts';

interface SignIn {
  readonly config: Config;
  readonly title: string;
  readonly lead?: Html;
  readonly email: Html;
  readonly button: string;
  /** Path of the page to which providers send the browser back; undefined for where the configuration sends it. */
  readonly returnTo: string | undefined;
  readonly others: readonly Html[];
}

/** The steps of a sign-in; `api/pages/browser/sign-in-steps.js` makes them work. */
export function signInSteps({ config, title, lead, email, button, returnTo, others }: SignIn): Html {
  return html`${step({
    name: 'sign-in',
    title,
    content: html`${lead}
      ${form({
        name: 'sign-in',
        fields: [email, passwordField('sign-in', { label: 'Password', autocomplete: 'current-password' })],
        button,
      })}
      ${onward(...others)}
      <div class="ways">${otherWays(config, returnTo)} ${toStep('single-sign-on', 'Single sign-on')}</div>`,
  })}
  ${step({
    name: 'code',
    title: 'Second factor',
    content: html`<p>Enter the code that your authenticator app shows.</p>
      ${form({
        name: 'code',
        fields: [
          field('code', {
            name: 'code',
            label: 'Code',
            autocomplete: 'one-time-code',
            maxLength: 16,
            isNumeric: true,
          }),
        ],
        button: 'Continue',
        wrong: 'The code is wrong, or was used before.',
        others: [onward(toStep('recovery', 'Use a recovery code'), toStep('sign-in', 'Back to the sign-in'))],
      })}`,
  })}
  ${step({
    name: 'recovery',
    title: 'Recovery code',
    content: html`<p>Enter one of the codes that you kept when you set up the authenticator app. Each works once.</p>
      ${form({
        name: 'recovery',
        fields: [
          field('recovery', { name: 'recovery_code', label: 'Recovery code', autocomplete: 'off', maxLength: 128 }),
        ],
        button: 'Continue',
        wrong: 'The recovery code is wrong, or was used before.',
        others: [onward(toStep('code', 'Use the authenticator app'), toStep('sign-in', 'Back to the sign-in'))],
      })}`,
  })}
  ${step({
    name: 'single-sign-on',
    title: 'Single sign-on',
    content: html`<p>Sign in with the account of your organization.</p>
      ${form({
        name: 'single-sign-on',
        fields: [emailField('single-sign-on')],
        button: 'Continue',
        others: [
          onward(
            toStep('organization', 'I have the id or the link of my organization'),
            toStep('sign-in', 'Back to the sign-in'),
          ),
        ],
      })}`,
  })}
  ${step({
    name: 'sign-ons',
    title: 'Choose your organization',
    content: html`<p>
        Several organizations have the domain of your address. The link that your managers gave you contains the id.
      </p>
      <div class="ways" id="sign-ons"></div>
      ${onward(toStep('single-sign-on', 'Use another address'), toStep('sign-in', 'Back to the sign-in'))}`,
  })}
  ${step({
    name: 'organization',
    title: 'Single sign-on',
    content: html`<p>Sign in with the account of your organization.</p>
      ${form({
        name: 'organization',
        fields: [
          field('organization', {
            name: 'organization_id',
            label: 'Organization',
            autocomplete: 'off',
            maxLength: 512,
            hint: 'The id of the organization, or the link that its managers gave you.',
          }),
        ],
        button: 'Continue',
        others: [onward(toStep('single-sign-on', 'Use my e-mail address'), toStep('sign-in', 'Back to the sign-in'))],
      })}`,
  })}`;
}

/** Buttons for the passkeys and providers that are configured. */
function otherWays(config: Config, returnTo: string | undefined): Html {
  const { providers, supportedproviders } = config.auth;
  const hasPasskeys = providers.webauthn.enabled || supportedproviders.includes('webauthn');
  const passkey = html`<button type="button" class="second" data-does="passkey">Sign in with a passkey</button>`;
  return html`${hasPasskeys ? passkey : undefined}${providerLinks(config, returnTo)}`;
}

/**
 * URL at which a sign-in at a provider begins. It has the origin to which the provider sends the browser back, whatever address the page
 * was opened with: the cookie of the sign-in is there.
 * @param returnTo path of a page; undefined for where the configuration sends people
 */
export function signInUrl(config: Config, path: string, returnTo: string | undefined): string {
  const base = publicApiUrl(config);
  return `${base}${path}${returnTo === undefined ? '' : `?redirect_uri=${encodeURIComponent(base + returnTo)}`}`;
}

/** Links that begin a sign-in at each configured provider. */
export function providerLinks(config: Config, returnTo: string | undefined): Html[] {
  return providerNames.flatMap((name) => {
    const settings = configuredProvider(config, name);
    if (!settings) return [];
    const url = signInUrl(config, `/v1/${name}/login`, returnTo);
    return [html`<a class="button second" data-leaves href="${url}">Continue with ${nameOf(settings.issuer)}</a>`];
  });
}

const known: Readonly<Record<string, string>> = {
  'https://github.com': 'GitHub',
  'https://accounts.google.com': 'Google',
};

function nameOf(issuer: string): string {
  return known[issuer] ?? new URL(issuer).host;
}
