import { html, type Html } from '../../pages/html.ts';
import { buttonLink, emailField, filled, form, onward, link, passwordField, step } from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import type { Route } from '../../http/route.ts';
import { linkSteps } from './link-steps.ts';

interface PasswordPage extends Pick<Route, 'url' | 'operationId' | 'summary' | 'description'> {
  readonly title: string;
  readonly purpose: string;
  readonly lead: Html;
  readonly button: string;
  readonly done: { readonly title: string; readonly text: Html };
  readonly expired: Html;
  readonly ended: Html;
  readonly used: { readonly title: string; readonly content: Html };
}

/** The page of a link that is confirmed with the password of the account. */
function passwordPage({ title, purpose, lead, button, done, expired, ended, used, ...route }: PasswordPage): Route {
  return pageRoute({
    ...route,
    page: () => ({
      title,
      script: 'mailed-link',
      data: { purpose },
      words: { invalid_credentials: 'This is not the password of the account.' },
      content: html`${linkSteps({ expired, ended, used })}
      ${step({
        name: 'form',
        title,
        content: html`${lead}
        ${form({
          name: 'password',
          fields: [
            emailField('password', { isShown: true }),
            passwordField('password', { label: 'Password of your account', autocomplete: 'current-password' }),
          ],
          button,
          sends: { to: route.url, next: 'done' },
          others: [onward(link(pagePaths.forgotPassword, 'Forgot your password?'))],
        })}`,
      })}
      ${step({
        name: 'done',
        title: done.title,
        content: html`<p class="done">${done.text}</p>
          ${buttonLink(pagePaths.signIn, 'Sign in')}`,
      })}`,
    }),
  });
}

const signIn = buttonLink(pagePaths.signIn, 'Sign in');
const notChanged = html`<p>If the address is not changed yet, sign in and change it again.</p>
  ${signIn}`;

export const emailChangePage = passwordPage({
  url: '/v1/account/email/confirm',
  operationId: 'showEmailChangePage',
  summary: 'Page that confirms a new address',
  description:
    'Page that the e-mailed link opens. It asks for the password and changes the address with POST /v1/account/email/confirm.',
  title: 'Confirm your new e-mail address',
  purpose: 'email-change',
  lead: html`<p>From then on you sign in with this address. All other devices are signed out.</p>`,
  button: 'Confirm',
  done: { title: 'Your address is changed', text: html`Sign in with ${filled('email')} from now on.` },
  expired: html`<p>Links to a new address work for a day. Sign in and change the address again.</p>
    ${signIn}`,
  ended: notChanged,
  used: { title: 'This link was used already', content: notChanged },
});

export const reactivationPage = passwordPage({
  url: '/v1/account/reactivate',
  operationId: 'showReactivationPage',
  summary: 'Page that reactivates an account',
  description:
    'Page that the e-mailed link opens. It asks for the password and reactivates the account with POST /v1/account/reactivate.',
  title: 'Reactivate your account',
  purpose: 'reactivation',
  lead: html`<p>Your account is as you left it.</p>`,
  button: 'Reactivate',
  done: { title: 'Welcome back', text: html`The account of ${filled('email')} is active again.` },
  expired: html`<p>An account can be reactivated within 90 days. Ask our support for help.</p>
    ${buttonLink(pagePaths.signIn, 'Sign in with another account')}`,
  ended: html`<p>If your account is active again, sign in. Otherwise ask for a new link.</p>
    ${signIn} ${onward(link(pagePaths.resend, 'Send me a new link'))}`,
  used: {
    title: 'Your account is active',
    content: html`<p class="done">There is nothing left to do: sign in.</p>
      ${signIn}`,
  },
});
