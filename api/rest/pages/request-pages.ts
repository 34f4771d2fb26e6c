import { html, type Html } from '../../pages/html.ts';
import {
  emailField,
  filled,
  form,
  link,
  nameFields,
  onward,
  passwordField,
  passwordHint,
  step,
  toStep,
} from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import type { Route } from '../../http/route.ts';

interface RequestPage extends Pick<Route, 'url' | 'operationId' | 'summary' | 'description'> {
  readonly title: string;
  readonly lead?: string;
  readonly fields: readonly Html[];
  readonly button: string;
  /** Text after the mail has arrived. */
  readonly sent: string;
  readonly others: readonly Html[];
}

/** A page that asks for a mail. It never says whether the address has an account. */
function requestPage({ title, lead, fields, button, sent, others, ...route }: RequestPage): Route {
  return pageRoute({
    ...route,
    page: () => ({
      title,
      script: 'request-mail',
      words: {
        invalid_input: 'This address cannot be used here. Check its spelling, or take another one.',
      },
      content: html`${step({
        name: 'form',
        title,
        isFirst: true,
        content: html`${lead === undefined ? undefined : html`<p>${lead}</p>`}
        ${form({ name: 'request', fields, button, others: [onward(...others)] })}`,
      })}
      ${step({
        name: 'sent',
        title: 'Check your mailbox',
        content: html`<p class="done">If ${filled('email')} can be used here, an e-mail is on its way.</p>
          <p>
            ${sent} If nothing arrives within a few minutes, check your spam folder. We send at most one e-mail a
            minute.
          </p>
          ${onward(toStep('form', 'Send it again, or to another address'), link(pagePaths.signIn, 'Sign in'))}`,
      })}`,
    }),
  });
}

const toSignIn = html`You have an account? ${link(pagePaths.signIn, 'Sign in')}`;

export const signUpPage = requestPage({
  url: pagePaths.signUp,
  operationId: 'showSignUpPage',
  summary: 'Page where people sign up',
  description: 'Page with a form that signs up with POST /v1/register.',
  title: 'Sign up',
  fields: [
    emailField('request'),
    ...nameFields('request'),
    passwordField('request', { label: 'Password', autocomplete: 'new-password', hint: passwordHint }),
  ],
  button: 'Sign up',
  sent: 'Open its link and confirm your address with the password that you have chosen.',
  others: [toSignIn],
});

export const forgotPasswordPage = requestPage({
  url: pagePaths.forgotPassword,
  operationId: 'showForgotPasswordPage',
  summary: 'Page that asks for a new password',
  description: 'Page with a form that asks for the link to a new password with POST /v1/forgot-password.',
  title: 'Forgot your password?',
  lead: 'Enter the address of your account. We send you a link with which you choose a new password.',
  fields: [emailField('request')],
  button: 'Send me the link',
  sent: 'Open its link within 15 minutes and choose a new password.',
  others: [toSignIn],
});

export const resendPage = requestPage({
  url: pagePaths.resend,
  operationId: 'showResendPage',
  summary: 'Page that asks for a new confirmation link',
  description: 'Page with a form that asks for a new link with POST /v1/resend.',
  title: 'Get a new link',
  lead: 'Enter the address with which you signed up. We send you a new link to confirm it.',
  fields: [emailField('request')],
  button: 'Send me a new link',
  sent: 'Open its link and confirm your address with the password that you have chosen.',
  others: [toSignIn],
});
