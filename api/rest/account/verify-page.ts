import { Type } from 'typebox';
import { defineRoute } from '../../http/route.ts';

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

/**
 * The page that the e-mailed link opens. Opening it changes nothing, because mail scanners open links; its form does. The token is
 * in the fragment of the URL, which browsers do not send to servers.
 */
export const verifyPage = defineRoute({
  method: 'GET',
  url: '/v1/verify',
  tag: 'Account',
  summary: 'Confirmation page',
  description:
    'Page that the e-mailed link opens. It asks for the password and confirms the address with POST /v1/verify.',
  access: 'anonymous',
  answers: { 200: Type.String() },
  produces: html,
  errors: [],
  handle: () => ({
    status: 200,
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Confirm your e-mail address</title>
<script src="/v1/verify.js" defer></script>
</head>
<body>
<main>
<h1>Confirm your e-mail address</h1>
<form id="form">
<p><label>Password that you signed up with <input id="password" type="password" autocomplete="current-password" required maxlength="1024"></label></p>
<p><label><input id="replace" type="checkbox"> I do not know it: set this password instead</label></p>
<button id="confirm">Confirm</button>
</form>
<p id="result" role="status"></p>
</main>
</body>
</html>
`,
  }),
});

/** A separate file, so that the page works with the content security policy `default-src 'self'`. */
export const verifyScript = defineRoute({
  method: 'GET',
  url: '/v1/verify.js',
  tag: 'Account',
  summary: 'Script of the confirmation page',
  description: 'Sends the token of the link and the password to POST /v1/verify.',
  access: 'anonymous',
  answers: { 200: Type.String() },
  produces: script,
  errors: [],
  handle: ({ services }) => {
    const { cookie, header } = services.config.current.server.csrfprotection;
    return {
      status: 200,
      body: `'use strict';
const form = document.getElementById('form');
const button = document.getElementById('confirm');
const result = document.getElementById('result');
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
const cookieValue = (name) =>
  document.cookie.split('; ').find((entry) => entry.startsWith(name + '='))?.slice(name.length + 1) ?? '';
if (!token) {
  result.textContent = 'This link is incomplete; copy the complete link from the e-mail.';
  form.hidden = true;
}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  const name = document.getElementById('replace').checked ? 'new_password' : 'password';
  const password = document.getElementById('password').value;
  const answer = await fetch('/v1/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json', [${JSON.stringify(header)}]: decodeURIComponent(cookieValue(${JSON.stringify(cookie)})) },
    body: JSON.stringify({ token, [name]: password }),
  });
  const body = await answer.json();
  result.textContent = answer.ok ? body.message : body.detail;
  form.hidden = answer.ok;
  button.disabled = false;
});
`,
    };
  },
});
