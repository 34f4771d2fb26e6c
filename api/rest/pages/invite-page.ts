import type { Config } from '#config/objects/root.ts';
import { html, type Html } from '../../pages/html.ts';
import { pageBrand } from '../../pages/page-brand.ts';
import {
  action,
  buttonLink,
  emailField,
  filled,
  form,
  link,
  nameFields,
  onward,
  passwordField,
  passwordHint,
  step,
  toApplication,
  toStep,
} from '../../pages/page-parts.ts';
import { pagePaths } from '../../pages/page-paths.ts';
import { pageRoute } from '../../pages/page-route.ts';
import { linkSteps } from './link-steps.ts';
import { providerLinks, signInSteps, signInUrl } from './sign-in-steps.ts';

const invitation = html`<p>
  ${filled('invited_by')} invites you to join ${filled('organization')} with the role ${filled('role')}.
</p>`;
const decline = toStep('decline', 'Decline the invitation');
const askAgain = html`<p>
    Ask the person who invited you, or a manager of the organization, to send the invitation again.
  </p>
  ${buttonLink(pagePaths.signIn, 'Sign in')}`;

/** A person who signs up at a provider comes back here and accepts. */
function otherProviders(config: Config): Html | undefined {
  const links = providerLinks(config, pagePaths.invite);
  return links.length === 0 ? undefined : html`<div class="ways">${links}</div>`;
}

export const invitePage = pageRoute({
  url: pagePaths.invite,
  operationId: 'showInvitePage',
  summary: 'Page of an invitation',
  description:
    'Page that the e-mailed link opens. It shows the invitation with POST /v1/invite and offers what fits: to accept it (POST /v1/invite/accept), to sign in before, to sign up (POST /v1/register), or to decline it (POST /v1/invite/decline).',
  page: (config, at) => {
    const brand = pageBrand(config, at);
    return {
      title: 'Invitation',
      script: 'invite',
      data: { singleSignOn: signInUrl(config, '/v1/sso/login', pagePaths.invite) },
      words: {
        already_exists: 'You are a member of the organization already.',
        invalid_credentials: 'This is not the password of your account, or the account cannot sign in at the moment.',
        permission_denied:
          'This account cannot accept the invitation. Sign out, then sign in with your password and the address that was invited.',
      },
      content: html`${linkSteps({
        expired: askAgain,
        ended: askAgain,
        used: {
          title: 'This invitation was answered already',
          content: html`<p>
              If you accepted it, sign in. If you declined it and have changed your mind, ask the person who invited you
              for another one.
            </p>
            ${buttonLink(pagePaths.signIn, 'Sign in')}`,
        },
      })}
      ${step({
        name: 'accept',
        title: 'You are invited',
        content: html`${invitation}
          <p>You are signed in as ${filled('email')}.</p>
          ${form({ name: 'accept', fields: [], button: 'Accept the invitation', others: [onward(decline)] })}`,
      })}
      ${step({
        name: 'other',
        title: 'You are invited',
        content: html`${invitation}
          <p>The invitation is for ${filled('email')}, but you are signed in as ${filled('signed_in')}.</p>
          ${form({ name: 'sign-out', fields: [], button: 'Sign out and use the invited address', others: [onward(decline)] })}`,
      })}
      ${signInSteps({
        config,
        title: 'You are invited',
        lead: html`${invitation}
          <p>You have an account. Sign in to accept the invitation.</p>`,
        email: emailField('sign-in', { isShown: true }),
        button: 'Sign in and accept',
        returnTo: pagePaths.invite,
        others: [link(pagePaths.forgotPassword, 'Forgot your password?'), decline],
      })}
      ${step({
        name: 'sign-up',
        title: 'You are invited',
        content: html`${invitation}
          <p>Choose a password for your new account.</p>
          ${form({
            name: 'sign-up',
            fields: [
              emailField('sign-up', { isShown: true }),
              ...nameFields('sign-up'),
              passwordField('sign-up', { label: 'Password', autocomplete: 'new-password', hint: passwordHint }),
            ],
            button: 'Sign up and accept',
            others: [onward(decline)],
          })}
          ${otherProviders(config)}`,
      })}
      ${step({
        name: 'decline',
        title: 'Decline the invitation?',
        content: html`<p>
            The link stops working then. If you change your mind, ask ${filled('organization')} for another invitation.
          </p>
          ${form({ name: 'decline', fields: [], button: 'Decline', others: [onward(action('back', 'Back'))] })}`,
      })}
      ${step({
        name: 'declined',
        title: 'The invitation is declined',
        content: html`<p>You did not join ${filled('organization')}. You can close this page.</p>
          ${toApplication(brand)}`,
      })}
      ${step({
        name: 'joined',
        title: 'Welcome',
        content: html`<p class="done">You have joined ${filled('organization')} with the role ${filled('role')}.</p>
          <p class="problem" role="alert" hidden></p>
          ${toApplication(brand, 'Continue')}`,
      })}`,
    };
  },
});
