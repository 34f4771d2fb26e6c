import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import type { OpenApiDocument } from '../../http/description/openapi-document.ts';
import { describedSettings, withSettings } from './configured-description.ts';
import { referencePage } from './reference-page.ts';

const html = 'text/html; charset=utf-8';

const notModified = Type.Null({ description: 'The document is the one of `If-None-Match`.' });

/** A document that describes the application: made and serialized at the first request, then kept while its settings stay. */
function documentOf(make: (document: () => OpenApiDocument) => string): (call: Call<unknown>) => Buffer {
  const kept = new WeakMap<FastifyInstance, { readonly settings: string; readonly text: Buffer }>();
  return ({ request: { server: app }, services }) => {
    const described = settingsOf(services.config.current);
    const settings = JSON.stringify(described);
    const known = kept.get(app);
    if (known?.settings === settings) return known.text;
    const text = Buffer.from(make(() => withSettings(app.swagger() as OpenApiDocument, described)));
    kept.set(app, { settings, text });
    return text;
  };
}

const settingsOf = onceForEach(describedSettings);

const openapiDocument = documentOf((document) => JSON.stringify(document()));

export const openapi = defineRoute({
  method: 'GET',
  url: '/openapi.json',
  operationId: 'getOpenApiDocument',
  tag: 'Service',
  summary: 'OpenAPI 3.1 description',
  description: 'Describes all REST routes of this server.',
  access: 'anonymous',
  limitClass: 'static',
  sends: ['ETag'],
  answers: { 200: Type.Unknown(), 304: notModified },
  errors: [],
  handle: (call) => ({ status: 200, document: openapiDocument(call) }),
});

/** The root URL leads to the reference. */
export const home = defineRoute({
  method: 'GET',
  url: '/',
  operationId: 'redirectToReference',
  tag: 'Service',
  summary: 'Redirect to the reference',
  description: 'Redirects to /docs.',
  access: 'anonymous',
  limitClass: 'static',
  sends: ['Location'],
  answers: { 302: Type.Null() },
  errors: [],
  handle: ({ reply }) => {
    void reply.header('location', '/docs');
    return { status: 302, body: null };
  },
});

const docsPage = documentOf((document) => page('Core server: reference', referencePage(document())));

/** A page without scripts. Its style is a file of its own, so that the content security policy `default-src 'self'` allows it. */
export const docs = defineRoute({
  method: 'GET',
  url: '/docs',
  operationId: 'showReference',
  tag: 'Service',
  summary: 'REST reference',
  description: 'The content of /openapi.json as a web page.',
  access: 'anonymous',
  limitClass: 'static',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: html,
  errors: [],
  handle: (call) => ({ status: 200, document: docsPage(call) }),
});

const errorPage = documentOf(() => page('Core server: errors', errorTable()));

export const errorDocs = defineRoute({
  method: 'GET',
  url: '/docs/errors',
  operationId: 'showErrorReference',
  tag: 'Service',
  summary: 'Error reference',
  description:
    'Lists all error codes, what causes each and what to do: the values of `code` in problem documents and of `extensions.code` in GraphQL errors.',
  access: 'anonymous',
  limitClass: 'static',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: html,
  errors: [],
  handle: (call) => ({ status: 200, document: errorPage(call) }),
});

const style = Buffer.from(`
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 68rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav > ul { columns: 16rem; padding: 0; list-style: none; }
nav > ul > li { break-inside: avoid-column; }
nav ul ul { padding-left: 1.2rem; margin: 0 0 .5rem; }
h2 { border-top: 1px solid var(--line); margin-top: 3rem; padding-top: 1rem; }
h3 { margin-bottom: .25rem; }
h3 a { color: inherit; text-decoration: none; }
h3 small { font-weight: normal; opacity: .7; }
h4 { margin: 1rem 0 .25rem; }
section { margin: 2rem 0; border-left: 3px solid var(--line); padding-left: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { background: var(--soft); }
/* Without a width, columns of short words would be broken within the words. */
th, td { min-width: 4.6rem; }
code { font-size: .9em; background: var(--soft); padding: 0 .2em; border-radius: .2em; }
summary { cursor: pointer; }
details.schema { margin: .5rem 0; }
details[open].schema { margin-bottom: 2rem; }
pre { overflow: auto; max-height: 20rem; padding: .5rem; background: var(--soft); font-size: .85rem; }
`);

const stylePath = '/docs/style.css';

export const docsStyle = defineRoute({
  method: 'GET',
  url: stylePath,
  operationId: 'getReferenceStyle',
  tag: 'Service',
  summary: 'Style of the reference',
  description: 'The style sheet of /docs and /docs/errors.',
  access: 'anonymous',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: 'text/css; charset=utf-8',
  errors: [],
  handle: () => ({ status: 200, document: style }),
});

function errorTable(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { title, cause, remedy } = errorCatalogue[code];
    const cells = [String(statusOf(code)), title, cause, remedy].map((cell) => `<td>${escapeHtml(cell)}</td>`);
    return `<tr id="${code}"><td><code>${code}</code></td>${cells.join('')}</tr>`;
  });
  const titles = ['Code', 'Status', 'Meaning', 'Cause', 'What to do'];
  return `<p>Codes are stable; titles and messages may change.</p>${table(titles, rows)}`;
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${stylePath}"></head>
<body><main><h1>${escapeHtml(title)}</h1>
${content}
</main></body>
</html>
`;
}
