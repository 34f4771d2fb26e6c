import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import { onceForEach } from '#entities/kit/base/once-for-each.ts';
import { errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/base/errors.ts';
import { defineRoute } from '../../http/route.ts';

const html = 'text/html; charset=utf-8';

/** A document that describes the application: made and serialized at the first request, then kept. */
function documentOf(make: (app: FastifyInstance) => string): (app: FastifyInstance) => Buffer {
  return onceForEach((app: FastifyInstance) => Buffer.from(make(app)));
}

const openapiDocument = documentOf((app) => JSON.stringify(app.swagger()));

export const openapi = defineRoute({
  method: 'GET',
  url: '/openapi.json',
  tag: 'Service',
  summary: 'OpenAPI 3.1 description',
  description: 'Describes all REST routes of this server.',
  access: 'anonymous',
  answers: { 200: Type.Unknown() },
  errors: [],
  handle: ({ request }) => ({ status: 200, document: openapiDocument(request.server) }),
});

/** The root URL leads to the reference. */
export const home = defineRoute({
  method: 'GET',
  url: '/',
  tag: 'Service',
  summary: 'Redirect to the reference',
  description: 'Redirects to /docs.',
  access: 'anonymous',
  answers: { 302: Type.Null() },
  errors: [],
  handle: ({ reply }) => {
    void reply.header('location', '/docs');
    return { status: 302, body: null };
  },
});

const docsPage = documentOf((app) => page('Core server: reference', operations(app.swagger() as Document)));

/** A page without scripts; it stays readable when a content security policy blocks its style. */
export const docs = defineRoute({
  method: 'GET',
  url: '/docs',
  tag: 'Service',
  summary: 'REST reference',
  description: 'The content of /openapi.json as a web page.',
  access: 'anonymous',
  answers: { 200: Type.String() },
  produces: html,
  errors: [],
  handle: ({ request }) => ({ status: 200, document: docsPage(request.server) }),
});

const errorPage = documentOf(() => page('Core server: errors', errorTable()));

export const errorDocs = defineRoute({
  method: 'GET',
  url: '/docs/errors',
  tag: 'Service',
  summary: 'Error reference',
  description:
    'Lists all error codes: the values of `code` in problem documents and of `extensions.code` in GraphQL errors.',
  access: 'anonymous',
  answers: { 200: Type.String() },
  produces: html,
  errors: [],
  handle: ({ request }) => ({ status: 200, document: errorPage(request.server) }),
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
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
  const body = requestBody?.content?.['application/json']?.schema;
  const answers = Object.entries(responses).map(([status, answer]) => {
    const schema = answer.content?.['application/json']?.schema;
    return `<dt>${escapeHtml(status)}</dt><dd>${escapeHtml(answer.description ?? '')}${schema ? block(schema) : ''}</dd>`;
  });
  return `<section><h3 id="${escapeHtml(id)}"><code>${escapeHtml(name)}</code></h3>
<p><strong>${escapeHtml(summary)}.</strong> ${escapeHtml(description)}</p>
${parameters.length > 0 ? parameterTable(parameters) : ''}
${body ? `<h4>Body</h4>${block(body)}` : ''}<h4>Responses</h4><dl>${answers.join('')}</dl></section>`;
}

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: location, required, description = '', schema = {} }) => {
    const cells = [location, required ? 'yes' : 'no', typeName(schema), description];
    return `<tr><td><code>${escapeHtml(name)}</code></td>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
  });
  return `<h4>Parameters</h4>${table(['Name', 'In', 'Required', 'Type', 'Description'], rows)}`;
}

function typeName({ type = 'any', enum: words, items }: Schema): string {
  if (words) return words.map(String).join(' | ');
  return items ? `list of ${typeName(items)}` : [type].flat().join(' or ');
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function errorTable(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map(
    (code) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${statusOf(code)}</td><td>${escapeHtml(errorCatalogue[code].title)}</td></tr>`,
  );
  return `<p>Codes are stable; titles and messages may change.</p>${table(['Code', 'Status', 'Meaning'], rows)}`;
}

function block(schema: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;
}

const style = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 4rem; }
nav > ul { columns: 16rem; padding: 0; list-style: none; }
nav li { break-inside: avoid-column; }
h2 { border-top: 1px solid; margin-top: 3rem; padding-top: 1rem; }
section { margin: 2rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border: 1px solid #8888; padding: .25rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
pre { overflow: auto; max-height: 20rem; padding: .5rem; background: #8882; }
`;

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title>
<style>${style}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${content}
</main></body>
</html>
`;
}
