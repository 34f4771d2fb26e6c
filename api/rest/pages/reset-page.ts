import { html } from '../../pages/html.ts';
import { buttonLink, emailField, filled, form, passwordField, passwordHint, step } from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { linkSteps } from './link-steps.ts';

const url = '/v1/password-reset';
const newLink = buttonLink(pagePaths.forgotPassword, 'Send me a new link');

export const resetPage = pageRoute({
  url,
  operationId: 'showPasswordResetPage',
  summary: 'Page for a new password',
  description:
    'Page that the e-mailed link opens. It asks for a new password and sets it with POST /v1/password-reset.',
  page: () => ({
    title: 'Choose a new password',
    script: 'mailed-link',
    data: { purpose: 'password-reset' },
    content: html`${linkSteps({
      expired: html`<p>Links for a new password work for 15 minutes.</p>
        ${newLink}`,
      ended: newLink,
      used: {
        title: 'This link was used already',
        content: html`<p>
            A new password was set with it, or with another one. If that was not you, ask for a new link now.
          </p>
          ${newLink}`,
      },
    })}
    ${step({
      name: 'form',
      title: 'Choose a new password',
      content: html`<p>
          All your devices are signed out then. Passkeys, linked providers and personal tokens are removed, because
          somebody else may have added them.
        </p>
        ${form({
          name: 'password',
          fields: [
            emailField('password', { isShown: true }),
            passwordField('password', { label: 'New password', autocomplete: 'new-password', hint: passwordHint }),
          ],
          button: 'Set the password',
          sends: { to: url, next: 'done' },
        })}`,
    })}
    ${step({
      name: 'done',
      title: 'The new password is set',
      content: html`<p class="done">${filled('email')} has a new password, and all devices are signed out.</p>
        ${buttonLink(pagePaths.signIn, 'Sign in')}`,
    })}`,
  }),
});
