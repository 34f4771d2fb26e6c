import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import { errorCatalogue, type ErrorCode } from '#entities/kit/base/error-catalogue.ts';
import { statusOf } from '#entities/kit/base/errors.ts';
import { defineRoute, type Call } from '../../http/route.ts';
import { withPageLimits } from './page-limits.ts';

const html = 'text/html; charset=utf-8';

const notModified = Type.Null({ description: 'The document is the one of `If-None-Match`.' });

/** A document that describes the application: made and serialized at the first request, then kept while the limit of pages stays. */
function documentOf(make: (document: () => Document) => string): (call: Call<unknown>) => Buffer {
  const kept = new WeakMap<FastifyInstance, { readonly largestPage: number; readonly text: Buffer }>();
  return ({ request: { server: app }, services }) => {
    const largestPage = services.config.current.server.maxresultlimit;
    const known = kept.get(app);
    if (known?.largestPage === largestPage) return known.text;
    const text = Buffer.from(make(() => withPageLimits(app.swagger() as Document, largestPage)));
    kept.set(app, { largestPage, text });
    return text;
  };
}

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
  answers: { 302: Type.Null() },
  errors: [],
  handle: ({ reply }) => {
    void reply.header('location', '/docs');
    return { status: 302, body: null };
  },
});

const docsPage = documentOf((document) => page('Core server: reference', operations(document())));

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
  answers: { 200: Type.String(), 304: notModified },
  produces: html,
  errors: [],
  handle: (call) => ({ status: 200, document: errorPage(call) }),
});

const style = Buffer.from(`
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav > ul { columns: 16rem; padding: 0; list-style: none; }
nav li { break-inside: avoid-column; }
h2 { border-top: 1px solid; margin-top: 3rem; padding-top: 1rem; }
section { margin: 2rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #8888; padding: .25rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
pre { overflow: auto; max-height: 20rem; padding: .5rem; background: #8882; }
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
  answers: { 200: Type.String(), 304: notModified },
  produces: 'text/css; charset=utf-8',
  errors: [],
  handle: () => ({ status: 200, document: style }),
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Record<string, { readonly schema?: unknown }> };
  readonly responses?: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { readonly schema?: unknown }> }
  >;
}

interface Document {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Listed {
  readonly id: string;
  /** Method and path. */
  readonly name: string;
  readonly operation: Operation;
}

/** Table of contents, then the operations by tag. */
function operations({ tags = [], paths = {} }: Document): string {
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Listed => {
      return { id: `${method}-${path}`, name: `${method.toUpperCase()} ${path}`, operation };
    }),
  );
  const chapters = tags.map(({ name, description = '' }) => {
    return { name, description, listed: listed.filter(({ operation }) => operation.tags?.includes(name)) };
  });
  const contents = chapters.map(
    ({ name, listed }) =>
      `<li><a href="#${anchor(name)}">${escapeHtml(name)}</a><ul>${listed.map(contentsLine).join('')}</ul></li>`,
  );
  const texts = chapters.map(
    ({ name, description, listed }) =>
      `<h2 id="${anchor(name)}">${escapeHtml(name)}</h2><p>${escapeHtml(description)}</p>${listed.map(section).join('\n')}`,
  );
  return `<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. GraphQL: <a href="/graphql">/graphql</a>, described by its
own schema. Error codes: <a href="/docs/errors">/docs/errors</a>.</p>
<nav aria-label="Contents"><ul>${contents.join('\n')}</ul></nav>
${texts.join('\n')}`;
}

/** The id of a heading; ids contain no white space. */
function anchor(name: string): string {
  return escapeHtml(name.toLowerCase().replaceAll(' ', '-'));
}

function contentsLine({ id, name, operation }: Listed): string {
  return `<li><a href="#${escapeHtml(id)}">${escapeHtml(operation.summary ?? name)}</a></li>`;
}

function section({ id, name, operation }: Listed): string {
  const { summary = '', description = '', parameters = [], requestBody, responses = {} } = operation;
  const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = content?.schema;
  const answers = Object.entries(responses).map(([status, answer]) => {
    const schema = answer.content?.['application/json']?.schema;
    return `<dt>${escapeHtml(status)}</dt><dd>${escapeHtml(answer.description ?? '')}${schema ? block(schema) : ''}</dd>`;
  });
  return `<section><h3 id="${escapeHtml(id)}"><code>${escapeHtml(name)}</code></h3>
<p><strong>${escapeHtml(summary)}.</strong> ${escapeHtml(description)}</p>
${parameters.length > 0 ? parameterTable(parameters) : ''}
${body ? `<h4>Body (${escapeHtml(type)})</h4>${block(body)}` : ''}<h4>Responses</h4><dl>${answers.join('')}</dl></section>`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: location, required, description = '', schema = {} }) => {
    const cells = [location, required ? 'yes' : 'no', typeName(schema), description];
    return `<tr><td><code>${escapeHtml(name)}</code></td>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<h4>Parameters</h4>${table(['Name', 'In', 'Required', 'Type', 'Description'], rows)}`;
}

function typeName({ type = 'any', enum: words, items, minimum, maximum }: Schema): string {
  if (words) return words.map(String).join(' | ');
  if (items) return `list of ${typeName(items)}`;
  const range = minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`;
  return [type].flat().join(' or ') + range;
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function errorTable(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map((code) => {
    const { title, cause, remedy } = errorCatalogue[code];
    const cells = [String(statusOf(code)), title, cause, remedy].map((cell) => `<td>${escapeHtml(cell)}</td>`);
    return `<tr id="${code}"><td><code>${code}</code></td>${cells.join('')}</tr>`;
  });
  const titles = ['Code', 'Status', 'Meaning', 'Cause', 'What to do'];
  return `<p>Codes are stable; titles and messages may change.</p>${table(titles, rows)}`;
}

function block(schema: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;
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
