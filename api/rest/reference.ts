import { Type } from 'typebox';
import { escapeHtml } from '#entities/kit/escape-html.ts';
import { errorCatalogue, statusOf, type ErrorCode } from '#entities/kit/errors.ts';
import { defineRoute } from '../route.ts';

const html = 'text/html; charset=utf-8';

export const openapi = defineRoute({
  method: 'GET',
  url: '/openapi.json',
  tag: 'Service',
  summary: 'This interface as OpenAPI 3.1',
  description: 'Made from the routes as they run.',
  access: 'nobody',
  answers: { 200: Type.Unknown() },
  errors: [],
  handle: ({ request }) => ({ status: 200, body: request.server.swagger() }),
});

/** Whoever opens the bare address finds the reference. */
export const home = defineRoute({
  method: 'GET',
  url: '/',
  tag: 'Service',
  summary: 'Leads to the reference',
  description: 'Redirects to /docs.',
  access: 'nobody',
  answers: { 302: Type.Null() },
  errors: [],
  handle: ({ reply }) => {
    void reply.header('location', '/docs');
    return { status: 302, body: null };
  },
});

/** A plain page without scripts: it works under any content security policy and in any reader. */
export const docs = defineRoute({
  method: 'GET',
  url: '/docs',
  tag: 'Service',
  summary: 'Reference of this interface',
  description: 'The same as /openapi.json, for people.',
  access: 'nobody',
  answers: { 200: Type.String() },
  produces: html,
  errors: [],
  handle: ({ request }) => ({
    status: 200,
    body: page('Core server: reference', operations(request.server.swagger())),
  }),
});

export const errorDocs = defineRoute({
  method: 'GET',
  url: '/docs/errors',
  tag: 'Service',
  summary: 'Reference of the errors',
  description: 'Every code that `code` of a problem document and `extensions.code` of a GraphQL error can have.',
  access: 'nobody',
  answers: { 200: Type.String() },
  produces: html,
  errors: [],
  handle: () => ({ status: 200, body: page('Core server: errors', errorTable()) }),
});

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly requestBody?: { readonly content?: Record<string, { readonly schema?: unknown }> };
  readonly responses?: Record<
    string,
    { readonly description?: string; readonly content?: Record<string, { readonly schema?: unknown }> }
  >;
}

function operations(document: { readonly paths?: unknown }): string {
  const paths = (document.paths ?? {}) as Record<string, Record<string, Operation>>;
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const body = operation.requestBody?.content?.['application/json']?.schema;
      const answers = Object.entries(operation.responses ?? {}).map(([status, answer]) => {
        const schema = answer.content?.['application/json']?.schema;
        return `<dt>${escapeHtml(status)}</dt><dd>${escapeHtml(answer.description ?? '')}${schema ? block(schema) : ''}</dd>`;
      });
      return `<section><h2 id="${escapeHtml(`${method}-${path}`)}"><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h2>
<p><strong>${escapeHtml(operation.summary ?? '')}.</strong> ${escapeHtml(operation.description ?? '')}</p>
${body ? `<h3>Body</h3>${block(body)}` : ''}<h3>Answers</h3><dl>${answers.join('')}</dl></section>`;
    }),
  );
  return `<p>The same for machines: <a href="/openapi.json">/openapi.json</a>. GraphQL is at <a href="/graphql">/graphql</a>;
its schema says everything about it. All errors: <a href="/docs/errors">/docs/errors</a>.</p>${sections.join('\n')}`;
}

function errorTable(): string {
  const rows = (Object.keys(errorCatalogue) as ErrorCode[]).map(
    (code) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${statusOf(code)}</td><td>${escapeHtml(errorCatalogue[code].title)}</td></tr>`,
  );
  return `<p>Branch on the code; texts may change.</p><table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}

function block(schema: unknown): string {
  return `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>`;
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(title)}</title></head>
<body><main><h1>${escapeHtml(title)}</h1>
${content}
</main></body>
</html>
`;
}
