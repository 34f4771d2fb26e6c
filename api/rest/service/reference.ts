import Fastify, { type FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import { loadedOnce } from '#entities/kit/base/loaded-once.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import type { OpenApiDocument } from '../../http/description/openapi-document.ts';
import { describedSettings, withSettings } from './configured-description.ts';

const html = 'text/html; charset=utf-8';

const stylePath = '/docs/style.css';

const notModified = Type.Null({ description: 'The document has the entity tag of `If-None-Match`.' });

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

/** Only files of this server. The reference sets inline styles, and images in its style sheet. */
const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const referencePage = Buffer.from(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Core server: reference</title></head>
<body style="margin: 0"><main id="loading" style="padding: 1rem; font: 1rem/1.5 system-ui, sans-serif"><h1>Core server: reference</h1>
<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. GraphQL: <a href="/graphql">/graphql</a>. Error codes: <a href="/docs/errors">/docs/errors</a>.</p>
<noscript><p>This page needs JavaScript; /openapi.json has the same content.</p></noscript></main>
<div id="reference"></div>
<script src="/docs/scalar.js" defer></script>
<script type="module" src="/pages/reference.js"></script></body>
</html>
`);

export const docs = defineRoute({
  method: 'GET',
  url: '/docs',
  operationId: 'showReference',
  tag: 'Service',
  summary: 'REST reference',
  description: 'The content of /openapi.json as a web page from which requests can be sent.',
  access: 'anonymous',
  limitClass: 'static',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: html,
  errors: [],
  handle: ({ reply }) => {
    void reply.header('content-security-policy', referencePolicy);
    return { status: 200, document: referencePage };
  },
});

/** The script of the reference, as its package serves it. It has 4 MB, so it is loaded with the first request. */
const referenceScript = loadedOnce(async (): Promise<Buffer> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = Fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { rawPayload } = await app.inject('/docs/js/scalar.js');
  await app.close();
  return rawPayload;
});

export const docsScript = defineRoute({
  method: 'GET',
  url: '/docs/scalar.js',
  operationId: 'getReferenceScript',
  tag: 'Service',
  summary: 'Script of the reference',
  description: 'The script of the package @scalar/fastify-api-reference.',
  access: 'anonymous',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: 'text/javascript; charset=utf-8',
  errors: [],
  handle: async () => ({ status: 200, document: await referenceScript() }),
});

const errorPage = documentOf(() => page('Core server: errors', errorTable()));

export const errorDocs = defineRoute({
  method: 'GET',
  url: '/docs/errors',
  operationId: 'showErrorReference',
  tag: 'Service',
  summary: 'Error reference',
  description:
    'Lists all error codes, with cause and remedy: the values of `code` in problem documents and of `extensions.code` in GraphQL errors.',
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
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 76rem; margin: 0 auto; padding: 0 1rem 4rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; }
th { background: var(--soft); }
code { font-size: .9em; background: var(--soft); padding: 0 .2em; border-radius: .2em; }
time { white-space: nowrap; }
/* On a narrow screen each row is a card: only a word that is wider than the screen is broken. */
@media (max-width: 84rem) {
  thead { display: none; }
  table, tbody { display: block; }
  tr { display: block; margin: 1rem 0; border: 1px solid var(--line); }
  td { display: block; border: 0; overflow-wrap: break-word; }
  td::before { content: attr(data-title); display: block; font-weight: bold; }
}
@media (max-width: 48rem) {
  h1 { font-size: 1.25rem; overflow-wrap: break-word; }
}
`);

export const docsStyle = defineRoute({
  method: 'GET',
  url: stylePath,
  operationId: 'getReferenceStyle',
  tag: 'Service',
  summary: 'Style of the reference',
  description: 'The style sheet of /docs/errors.',
  access: 'anonymous',
  sends: ['ETag'],
  answers: { 200: Type.String(), 304: notModified },
  produces: 'text/css; charset=utf-8',
  errors: [],
  handle: () => ({ status: 200, document: style }),
});

const titles = ['Code', 'Status', 'Meaning', 'Cause', 'Remedy'];

function errorTable(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { title, cause, remedy } = errorCatalogue[code];
    const texts = [`<code>${code}</code>`, ...[String(statusOf(code)), title, cause, remedy].map(withCode)];
    const cells = texts.map((text, index) => `<td data-title="${titles[index]}"><span>${text}</span></td>`);
    return `<tr id="${code}">${cells.join('')}</tr>`;
  });
  return `<p>Codes are stable; titles and messages may change.</p>${table(titles, rows)}`;
}

/** A text as HTML, with what stands between backticks as code. */
function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
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
