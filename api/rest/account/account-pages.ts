import { formPage } from './form-page.ts';

export const verifyPages = formPage({
  url: '/v1/verify',
  operationId: 'showVerificationPage',
  title: 'Confirm your e-mail address',
  summary: 'Confirmation page',
  description:
    'Page that the e-mailed link opens. It asks for the password and confirms the address with POST /v1/verify.',
  fields: `<p><label>Password that you signed up with <input id="password" type="password" autocomplete="current-password" required maxlength="1024"></label></p>
<p><label><input id="replace" type="checkbox"> I do not know it: set this password instead</label></p>`,
  button: 'Confirm',
  body: `{ [document.getElementById('replace').checked ? 'new_password' : 'password']: value('password') }`,
});

export const resetPages = formPage({
  url: '/v1/password-reset',
  operationId: 'showPasswordResetPage',
  title: 'Set a new password',
  summary: 'Page for a new password',
  description:
    'Page that the e-mailed link opens. It asks for a new password and sets it with POST /v1/password-reset.',
  fields: `<p><label>New password <input id="password" type="password" autocomplete="new-password" required maxlength="1024"></label></p>`,
  button: 'Set the password',
  body: `{ password: value('password') }`,
});

export const invitePages = formPage({
  url: '/v1/invite',
  operationId: 'showInvitePage',
  title: 'Invitation',
  summary: 'Page of an invitation',
  description:
    'Page that the e-mailed link opens. It shows the invitation with POST /v1/invite and answers it with POST /v1/invite/accept, /v1/register or /v1/invite/decline.',
  fields: `<p><label>Your answer <select id="answer">
<option value="/v1/invite/accept">Join with my account; I am signed in in this browser</option>
<option value="/v1/register">Join with a new account</option>
<option value="/v1/invite/decline">Decline</option>
</select></label></p>
<p><label>Password of the new account <input id="password" type="password" autocomplete="new-password" maxlength="1024"></label></p>`,
  button: 'Send',
  body: `(value('answer') === '/v1/register' ? { email: shown.email, password: value('password') } : {})`,
  sends: { to: `value('answer')`, tokenAs: `value('answer') === '/v1/register' ? 'invite_token' : 'token'` },
  shows: '/v1/invite',
});

export const subscriptionPages = formPage({
  url: '/v1/subscribe/verify',
  operationId: 'showSubscriptionPage',
  title: 'Confirm your subscription',
  summary: 'Page that confirms a subscription',
  description:
    'Page that the link of a verification e-mail opens. It verifies the address with POST /v1/subscribe/verify.',
  fields: '',
  button: 'Confirm',
  body: '{}',
});

export const unsubscribePages = formPage({
  url: '/v1/unsubscribe',
  operationId: 'showUnsubscribePage',
  title: 'Unsubscribe',
  summary: 'Page that ends a subscription',
  description:
    'Page that the link at the end of e-mails to subscribers opens. It ends the subscription with POST /v1/unsubscribe.',
  fields: '',
  button: 'Unsubscribe',
  body: '{}',
  acceptsQuery: true,
});
