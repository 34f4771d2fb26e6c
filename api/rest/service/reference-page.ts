import { escapeHtml } from '#entities/kit/base/escape-html.ts';
import type {
  OpenApiDocument,
  Operation,
  Parameter,
  Reference,
  Response,
} from '../../http/description/openapi-document.ts';
import { example, schemaSection, typeText } from './reference-schemas.ts';

interface Listed {
  /** Its address in the page: the name of the operation. */
  readonly id: string;
  /** Method and path. */
  readonly name: string;
  readonly operation: Operation;
}

interface Tag {
  readonly name: string;
  readonly description?: string;
}

/** Parameters above this many are shown on request. */
const shownParameters = 8;

/** The description of the API as a page: contents, the operations by tag, events, and the schemas that they share. */
export function referencePage(document: OpenApiDocument): string {
  const { paths = {}, webhooks = {}, components = {} } = document;
  const tags = (document['tags'] ?? []) as readonly Tag[];
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Listed => {
      return { id: operation.operationId ?? '', name: `${method.toUpperCase()} ${path}`, operation };
    }),
  );
  const chapters = tags.map(({ name, description = '' }) => {
    return { name, description, listed: listed.filter(({ operation }) => operation.tags?.includes(name)) };
  });
  const contents = chapters.map(
    ({ name, listed }) =>
      `<li><details><summary><a href="#${anchor(name)}">${escapeHtml(name)}</a></summary><ul>${listed.map(contentsLine).join('')}</ul></details></li>`,
  );
  const texts = chapters.map(
    ({ name, description, listed }) =>
      `<h2 id="${anchor(name)}">${escapeHtml(name)}</h2><p>${marked(description)}</p>${listed.map((each) => section(each, components)).join('\n')}`,
  );
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) => schemaSection(name, schema));
  return `<p>Machine-readable: <a href="/openapi.json">/openapi.json</a>. GraphQL: <a href="/graphql">/graphql</a>, described by its
own schema. Error codes: <a href="/docs/errors">/docs/errors</a>.</p>
<p>Clients can be generated from the machine-readable description: operations have the names that stand beside their paths.</p>
<nav aria-label="Contents"><ul>${contents.join('\n')}
<li><a href="#credentials">Credentials</a></li><li><a href="#events">Events</a></li><li><a href="#schemas">Schemas</a></li></ul></nav>
${credentials(components['securitySchemes'])}
${texts.join('\n')}
${events(webhooks)}
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}`;
}

/** The id of a heading; ids contain no white space. */
function anchor(name: string): string {
  return escapeHtml(name.toLowerCase().replaceAll(' ', '-'));
}

/** A text with code in backquotes. */
function marked(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function contentsLine({ id, name, operation }: Listed): string {
  return `<li><a href="#${escapeHtml(id)}">${escapeHtml(operation.summary ?? name)}</a></li>`;
}

function credentials(schemes: unknown): string {
  const rows = Object.entries(
    (schemes ?? {}) as Record<string, { name?: string; in?: string; scheme?: string; description?: string }>,
  ).map(([name, scheme]) => {
    const place =
      scheme.in === undefined
        ? 'header <code>Authorization: Bearer …</code>'
        : `${scheme.in} <code>${escapeHtml(scheme.name ?? '')}</code>`;
    return `<tr><td><code>${escapeHtml(name)}</code></td><td>${place}</td><td>${marked(scheme.description ?? '')}</td></tr>`;
  });
  return `<h2 id="credentials">Credentials</h2>${table(['Name', 'Where', 'What'], rows)}`;
}

function section({ id, name, operation }: Listed, components: NonNullable<OpenApiDocument['components']>): string {
  const { summary = '', description = '', parameters = [], requestBody, responses = {}, security } = operation;
  const [method = '', path = ''] = name.split(' ');
  const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const resolved = parameters.map((each) => resolvedIn(components.parameters, each));
  const answers = Object.entries(responses).map(([status, each]) =>
    answerRow(status, resolvedIn(components.responses, each)),
  );
  return `<section><h3 id="${escapeHtml(id)}"><a href="#${escapeHtml(id)}"><code>${escapeHtml(method)} ${escapeHtml(path)}</code></a> <small>${escapeHtml(id)}</small></h3>
${operation['deprecated'] === true ? deprecationNote(operation['x-sunset']) : ''}<p><strong>${escapeHtml(summary)}.</strong> ${marked(description)}</p>
<p>Credentials: ${credentialsOf(security as readonly Readonly<Record<string, unknown>>[] | undefined)}</p>
${resolved.length > 0 ? parameterTable(resolved) : ''}
${content ? `<h4>Body (${escapeHtml(type)}${requestBody?.required ? '' : ', can be left out'})</h4><p>${typeText(content.schema ?? {})}</p>${example(content.schema, components.schemas)}` : ''}<h4>Responses</h4>${table(['Status', 'Body', 'Meaning'], answers)}</section>`;
}

function deprecationNote(sunset: unknown): string {
  return `<p><strong>Deprecated.</strong>${typeof sunset === 'string' ? ` It may be missing from ${escapeHtml(sunset)} on.` : ''}</p>`;
}

/** What stands in a place, or in the components. */
function resolvedIn<Part extends object>(parts: Readonly<Record<string, Part>> = {}, part: Part | Reference): Part {
  if (!('$ref' in part)) return part;
  const found = parts[part.$ref.slice(part.$ref.lastIndexOf('/') + 1)];
  if (!found) throw new TypeError(`the description of the API has no ${part.$ref}`);
  return found;
}

function credentialsOf(sets: readonly Readonly<Record<string, unknown>>[] = []): string {
  if (sets.length === 0) return 'none.';
  const all = sets.map((set) => {
    const names = Object.keys(set).map((name) => `<a href="#credentials"><code>${escapeHtml(name)}</code></a>`);
    return names.length === 0 ? 'none' : names.join(' and ');
  });
  return `${all.join(', or ')}.`;
}

function answerRow(status: string, { description = '', content = {}, headers = {} }: Response): string {
  const [media] = Object.values(content);
  const names = Object.keys(headers).filter((name) => !everywhere.has(name));
  const also =
    names.length === 0 ? '' : ` Headers: ${names.map((name) => `<code>${escapeHtml(name)}</code>`).join(', ')}.`;
  const body = media ? typeText(media.schema ?? {}) : '';
  return `<tr><td>${escapeHtml(status)}</td><td>${body}</td><td>${marked(description)}${also}</td></tr>`;
}

/** Headers of all answers. */
const everywhere: ReadonlySet<string> = new Set(['X-Request-Id', 'RateLimit', 'RateLimit-Policy']);

function parameterTable(parameters: readonly Parameter[]): string {
  const rows = parameters.map(({ name, in: location, required, description = '', schema = {} }) => {
    return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(location)}</td><td>${required ? 'yes' : 'no'}</td><td>${typeText(schema)}</td><td>${marked(description)}</td></tr>`;
  });
  const all = table(['Name', 'In', 'Required', 'Type', 'Description'], rows);
  return rows.length > shownParameters
    ? `<details><summary>Parameters (${rows.length})</summary>${all}</details>`
    : `<h4>Parameters</h4>${all}`;
}

/** What endpoints of webhooks receive. */
function events(webhooks: NonNullable<OpenApiDocument['webhooks']>): string {
  const rows = Object.entries(webhooks).map(([topic, { post }]) => {
    const [media] = Object.values(post?.requestBody?.content ?? {});
    return `<tr><td><code>${escapeHtml(topic)}</code></td><td>${typeText(media?.schema ?? {})}</td><td>${marked(post?.summary ?? '')}</td></tr>`;
  });
  return `<h2 id="events">Events</h2><p>What webhook endpoints receive, by type.</p>${table(['Type', 'Body', 'When'], rows)}`;
}

function table(titles: readonly string[], rows: readonly string[]): string {
  const head = titles.map((title) => `<th scope="col">${title}</th>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}
