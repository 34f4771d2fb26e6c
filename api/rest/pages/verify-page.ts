import { html } from '../../pages/html.ts';
import {
  buttonLink,
  emailField,
  filled,
  form,
  link,
  onward,
  passwordField,
  passwordHint,
  step,
  toStep,
} from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { linkSteps } from './link-steps.ts';

const url = '/v1/verify';
const newLink = buttonLink(pagePaths.resend, 'Send me a new link');
const sends = { to: url, next: 'done' };

export const verifyPage = pageRoute({
  url,
  operationId: 'showVerificationPage',
  summary: 'Page that confirms an address',
  description:
    'Page that the e-mailed link opens. It asks for the password of the sign-up, or for another one, and confirms the address with POST /v1/verify.',
  page: () => ({
    title: 'Confirm your e-mail address',
    script: 'mailed-link',
    data: { purpose: 'email-verification' },
    words: {
      invalid_credentials:
        'This is not the password that you chose when you signed up. If you do not remember it, or somebody else signed up with your address, choose a new one below.',
    },
    content: html`${linkSteps({
      expired: newLink,
      ended: html`${newLink} ${onward(link(pagePaths.signIn, 'I have confirmed my address: sign in'))}`,
      used: {
        title: 'Your address is confirmed',
        content: html`<p>${filled('email', 'It')} was confirmed with this link, or with another one.</p>
          ${buttonLink(pagePaths.signIn, 'Sign in')}`,
      },
    })}
    ${step({
      name: 'form',
      title: 'Confirm your e-mail address',
      content: html`<p>Enter the password that you chose when you signed up.</p>
        ${form({
          name: 'known',
          fields: [
            emailField('known', { isShown: true }),
            passwordField('known', { label: 'Password', autocomplete: 'current-password' }),
          ],
          button: 'Confirm',
          sends,
          others: [onward(toStep('other', 'I do not know it: choose another password'))],
        })}`,
    })}
    ${step({
      name: 'other',
      title: 'Choose another password',
      content: html`<p>It replaces the password that was chosen at the sign-up.</p>
        ${form({
          name: 'other',
          fields: [
            emailField('other', { isShown: true }),
            passwordField('other', {
              name: 'new_password',
              label: 'New password',
              autocomplete: 'new-password',
              hint: passwordHint,
            }),
          ],
          button: 'Set the password and confirm',
          sends,
          others: [onward(toStep('form', 'I know the password'))],
        })}`,
    })}
    ${step({
      name: 'done',
      title: 'Your address is confirmed',
      content: html`<p class="done">The account of ${filled('email')} is ready.</p>
        ${buttonLink(pagePaths.signIn, 'Sign in')}`,
    })}`,
  }),
});
