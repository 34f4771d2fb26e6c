import { formPage } from '../account/form-page.ts';

const passwordField = `<p><label>Password <input id="password" type="password" autocomplete="current-password" required maxlength="1024"></label></p>`;
const body = `{ password: value('password') }`;

export const emailChangePages = formPage({
  url: '/v1/account/email/confirm',
  operationId: 'showEmailChangePage',
  title: 'Confirm your new e-mail address',
  summary: 'Page that confirms a new address',
  description:
    'Page that the e-mailed link opens. It asks for the password and changes the address with POST /v1/account/email/confirm.',
  fields: passwordField,
  button: 'Confirm',
  body,
});

export const reactivationPages = formPage({
  url: '/v1/account/reactivate',
  operationId: 'showReactivationPage',
  title: 'Reactivate your account',
  summary: 'Page that reactivates an account',
  description:
    'Page that the e-mailed link opens. It asks for the password and reactivates the account with POST /v1/account/reactivate.',
  fields: passwordField,
  button: 'Reactivate',
  body,
});
