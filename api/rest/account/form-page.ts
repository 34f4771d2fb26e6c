import { Type } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';

const html = 'text/html; charset=utf-8';
const script = 'text/javascript; charset=utf-8';

interface FormPage {
  /** Path of the page and of the request that its form sends; the script has `.js` after it. */
  readonly url: string;
  readonly title: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** HTML of the fields. */
  readonly fields: string;
  readonly button: string;
  /** JavaScript object literal: the body that is sent, besides the token. `value(id)` is the text of a field. */
  readonly body: string;
  /** JavaScript expressions: the path to which the form is sent, if it is not always `url`, and the name of the token there. */
  readonly sends?: { readonly to: string; readonly tokenAs: string };
  /** Path of a POST that says what the token stands for: the page shows the `message` of its answer, and `shown` is the answer. */
  readonly shows?: string;
  /** The token may be in the query as well: of links that programs follow. */
  readonly acceptsQuery?: true;
}

/**
 * The page that a mailed link opens, and its script. Opening it changes nothing, because mail scanners open links; its form does. The
 * token is in the fragment of the URL, which browsers do not send to servers. The script is a separate file, so that the page works
 * with the content security policy `default-src 'self'`.
 */
export function formPage(page: FormPage): readonly [Route, Route] {
  const common = { method: 'GET', tag: 'Account', access: 'anonymous', limitClass: 'static', errors: [] } as const;
  return [
    defineRoute({
      ...common,
      url: page.url,
      operationId: page.operationId,
      summary: page.summary,
      description: page.description,
      answers: { 200: Type.String() },
      produces: html,
      handle: () => ({ status: 200, body: documentOf(page) }),
    }),
    defineRoute({
      ...common,
      url: `${page.url}.js`,
      operationId: `${page.operationId}Script`,
      summary: `Script: ${page.summary}`,
      description: `Sends the token of the link and what was entered to POST ${page.url}.`,
      answers: { 200: Type.String() },
      produces: script,
      handle: ({ services }) => ({
        status: 200,
        body: scriptOf(page, services.config.current.server.csrfprotection),
      }),
    }),
  ];
}

function documentOf({ url, title, fields, button }: FormPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<script src="${url}.js" defer></script>
</head>
<body>
<main>
<h1>${title}</h1>
<p id="about"></p>
<form id="form">
${fields}
<button id="confirm">${button}</button>
</form>
<p id="result" role="status"></p>
</main>
</body>
</html>
`;
}

function scriptOf(
  { url, body, sends, shows, acceptsQuery }: FormPage,
  csrf: { readonly cookie: string; readonly header: string },
): string {
  return `'use strict';
const form = document.getElementById('form');
const button = document.getElementById('confirm');
const result = document.getElementById('result');
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ${acceptsQuery ? `new URLSearchParams(location.search).get('token') ?? ` : ''}'';
const value = (id) => document.getElementById(id).value;
const cookieValue = (name) =>
  document.cookie.split('; ').find((entry) => entry.startsWith(name + '='))?.slice(name.length + 1) ?? '';
const post = (path, body) => fetch(path, {
  method: 'POST',
  headers: { 'content-type': 'application/json', [${JSON.stringify(csrf.header)}]: decodeURIComponent(cookieValue(${JSON.stringify(csrf.cookie)})) },
  body: JSON.stringify(body),
});
let shown = {};
const showWhat = async (path) => {
  const answer = await post(path, { token });
  shown = await answer.json();
  if (answer.ok) document.getElementById('about').textContent = shown.message;
  else result.textContent = shown.detail;
  form.hidden = !answer.ok;
};
if (!token) {
  result.textContent = 'This link is incomplete; copy the complete link from the e-mail.';
  form.hidden = true;
}${shows === undefined ? '' : ` else showWhat(${JSON.stringify(shows)});`}
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  button.disabled = true;
  const answer = await post(${sends?.to ?? JSON.stringify(url)}, { [${sends?.tokenAs ?? `'token'`}]: token, ...${body} });
  const body = await answer.json();
  result.textContent = answer.ok ? body.message : body.detail;
  form.hidden = answer.ok;
  button.disabled = false;
});
`;
}
