import { Type } from 'typebox';
import { defineRoute, type Route } from '../../http/route.ts';
import { portalHeader } from './portal-caller.ts';

/** Path of the page; the routes that it calls are below. */
export const portalUrl = '/v1/webhook-portal';

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Webhook endpoints</title>
<script src="${portalUrl}.js" defer></script>
</head>
<body>
<main>
<h1>Webhook endpoints</h1>
<p id="result" role="status"></p>
<div id="endpoints"></div>
</main>
</body>
</html>
`;

/** The token stays in the fragment of the URL, which browsers do not send to servers. What others have written is shown as text. */
const scriptOf = (csrf: { readonly cookie: string; readonly header: string }) => `'use strict';
const base = ${JSON.stringify(`${portalUrl}/endpoints`)};
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
const result = document.getElementById('result');
const cookieValue = (name) =>
  document.cookie.split('; ').find((entry) => entry.startsWith(name + '='))?.slice(name.length + 1) ?? '';
const call = async (path, body) => {
  const headers = { ${JSON.stringify(portalHeader)}: token };
  if (body !== undefined) headers[${JSON.stringify(csrf.header)}] = decodeURIComponent(cookieValue(${JSON.stringify(csrf.cookie)}));
  const hasContent = body !== undefined && Object.keys(body).length > 0;
  if (hasContent) headers['content-type'] = 'application/json';
  const answer = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST', headers, ...(hasContent ? { body: JSON.stringify(body) } : {}),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.detail);
  return content;
};
const say = (text) => { result.textContent = text; };
const attempt = (work) => work().catch((error) => say(error.message));
const element = (name, text, ...children) => {
  const made = document.createElement(name);
  if (text !== '') made.textContent = text;
  made.append(...children);
  return made;
};
const button = (text, work) => {
  const made = element('button', text);
  made.type = 'button';
  made.addEventListener('click', () => attempt(work));
  return made;
};
const table = (names, rows) => element('table', '',
  element('thead', '', element('tr', '', ...names.map((name) => element('th', name)))),
  element('tbody', '', ...rows.map((cells) =>
    element('tr', '', ...cells.map((cell) => element('td', '', cell instanceof Node ? cell : String(cell ?? '')))))));
const showEndpoint = ({ id, name, url, topics, status }) => {
  const logs = element('div', '');
  const show = async () => {
    const [messages, attempts] = await Promise.all([call('/' + id + '/messages'), call('/' + id + '/attempts')]);
    const again = (eventId) => button('Send again', async () => {
      await call('/' + id + '/replay', { event_ids: [eventId] });
      say('The message is sent again.');
      await show();
    });
    logs.replaceChildren(
      element('h3', 'Messages'),
      table(['When', 'Type', 'Id', 'Status', ''],
        messages.data.map((one) => [one.occurred_at, one.type, one.event_id, one.status, again(one.event_id)])),
      element('h3', 'Attempts'),
      table(['When', 'Type', 'Id', 'Status', 'Problem', 'Response'],
        attempts.data.map((one) => [one.attempted_at, one.type, one.event_id, one.status, one.problem, one.response])));
  };
  attempt(show);
  return element('section', '',
    element('h2', name),
    element('p', url + ' (' + status + '): ' + topics.join(', ')),
    button('Send a test message', async () => {
      await call('/' + id + '/test', {});
      say('A test message is sent.');
      await show();
    }),
    button('Refresh', show),
    logs);
};
if (!token) say('This link is incomplete; copy the complete link.');
else attempt(async () => {
  const { data } = await call('');
  document.getElementById('endpoints').replaceChildren(...data.map(showEndpoint));
  if (data.length === 0) say('There are no endpoints.');
});
`;

const common = {
  method: 'GET',
  tag: 'Webhook endpoints',
  access: 'anonymous',
  limitClass: 'static',
  errors: [],
} as const;

/** The page that a link opens, and its script. Both say nothing by themselves. */
export const portalPages: readonly Route[] = [
  defineRoute({
    ...common,
    url: portalUrl,
    operationId: 'showWebhookPortal',
    summary: 'Portal of webhook endpoints',
    description: 'Page that a link to the portal opens. It shows endpoints, messages and attempts.',
    answers: { 200: Type.String() },
    produces: 'text/html; charset=utf-8',
    handle: () => ({ status: 200, body: page }),
  }),
  defineRoute({
    ...common,
    url: `${portalUrl}.js`,
    operationId: 'getWebhookPortalScript',
    summary: 'Script: portal of webhook endpoints',
    description: 'Sends the token of the link with each request of the page.',
    answers: { 200: Type.String() },
    produces: 'text/javascript; charset=utf-8',
    handle: ({ services }) => ({ status: 200, body: scriptOf(services.config.current.server.csrfprotection) }),
  }),
];
