// The reference of the API at /docs: shows /openapi.json, with samples in TypeScript, and sends requests with the credentials of the browser.

/**
 * @typedef {{ operationId?: string, tags?: string[], requestBody?: { content?: Record<string, { schema?: { $ref?: string } }> },
 *   parameters?: { $ref?: string, name?: string, required?: boolean }[], 'x-codeSamples'?: object[] }} Operation
 * @typedef {{ paths: Record<string, Record<string, Operation>>, components: Record<string, Record<string, any>> }} Description
 */

/** The token of the last sign-in on this page: it is sent where no other credential is chosen. */
let accessToken = '';

/** @param {string} name */
function cookie(name) {
  const [, value = ''] = new RegExp(`(?:^|; )${name}=([^;]*)`).exec(document.cookie) ?? [];
  return decodeURIComponent(value);
}

/** @param {Description} description @param {{ $ref?: string }} part @returns {any} */
function target(description, part) {
  if (part.$ref === undefined) return part;
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(part.$ref) ?? [];
  return description.components[kind]?.[name] ?? {};
}

/** @param {Description} description */
function csrfNames({ components }) {
  const { csrfCookie, csrfHeader } = components['securitySchemes'] ?? {};
  return { cookie: String(csrfCookie?.name), header: String(csrfHeader?.name) };
}

/** Name of an argument that oazapfts makes of a parameter. @param {string} name */
function argument(name) {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word, index) => (index === 0 ? word : word.slice(0, 1).toUpperCase() + word.slice(1)))
    .join('');
}

/**
 * A call of the function that oazapfts generates for the operation: its arguments are the required parameters, then the body.
 * @param {Description} description @param {Operation} operation
 */
function typescriptSample(description, { operationId = '', parameters = [], requestBody }) {
  const required = parameters.map((each) => target(description, each)).filter((each) => each.required === true);
  const schema = target(description, requestBody?.content?.['application/json']?.schema ?? {});
  const [body] = schema.examples ?? [];
  const given = [
    ...required.map(({ name }) => argument(String(name))),
    ...(body === undefined ? [] : [JSON.stringify(body, undefined, 2).replaceAll(/"(\w+)":/g, '$1:')]),
  ];
  return [
    "import { ok } from '@oazapfts/runtime';",
    `import * as api from './api.ts'; // npx oazapfts ${location.origin}/openapi.json api.ts`,
    '',
    `const answer = await ok(api.${operationId}(${given.join(', ')}));`,
  ].join('\n');
}

/** @param {Description} description */
export function withSamples(description) {
  for (const methods of Object.values(description.paths)) {
    for (const operation of Object.values(methods))
      operation['x-codeSamples'] = [
        { lang: 'TypeScript', label: 'TypeScript client', source: typescriptSample(description, operation) },
      ];
  }
  return description;
}

/**
 * Sends a request of the page as a browser does that is signed in here.
 * @param {Description} description @returns {typeof fetch}
 */
export function sending(description) {
  const csrf = csrfNames(description);
  return async (input, init) => {
    const request = new Request(input, init);
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    const hasCredential = (request.headers.get('authorization') ?? '').replace(/^Bearer\s*/i, '').trim() !== '';
    if (!hasCredential) request.headers.delete('authorization');
    if (!hasCredential && accessToken !== '') request.headers.set('authorization', `Bearer ${accessToken}`);
    if (changes && cookie(csrf.cookie) !== '') request.headers.set(csrf.header, cookie(csrf.cookie));
    const response = await fetch(request, { credentials: 'same-origin' });
    const type = response.headers.get('content-type') ?? '';
    if (response.ok && type.startsWith('application/json')) {
      const body = await response.clone().json();
      if (typeof body?.access_token === 'string') accessToken = body.access_token;
    }
    return response;
  };
}

/**
 * Links from elsewhere, such as those of deprecated operations, name an operation by its id alone.
 * @param {Description} description
 */
function followOperationId({ paths }) {
  const wanted = decodeURIComponent(location.hash.slice(1));
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, tags: [tag = ''] = [] }] of Object.entries(methods))
      if (operationId === wanted)
        location.replace(`#tag/${tag.toLowerCase().replaceAll(' ', '-')}/${method.toUpperCase()}${path}`);
  }
}

async function start() {
  const response = await fetch('/openapi.json');
  const description = /** @type {Description} */ (await response.json());
  const csrf = csrfNames(description);
  followOperationId(description);
  // @ts-expect-error -- the global of /docs/scalar.js
  Scalar.createApiReference('#reference', {
    content: withSamples(description),
    // The page may send requests to its own server alone, also where the description names another address of it.
    servers: [{ url: location.origin }],
    customFetch: sending(description),
    authentication: {
      preferredSecurityScheme: 'accessToken',
      securitySchemes: { csrfHeader: { name: csrf.header, in: 'header', value: cookie(csrf.cookie) } },
    },
    hiddenClients: {
      c: true,
      clojure: true,
      csharp: true,
      dart: true,
      fsharp: true,
      go: true,
      http: true,
      java: true,
      kotlin: true,
      node: true,
      objc: true,
      ocaml: true,
      php: true,
      powershell: true,
      python: true,
      r: true,
      ruby: true,
      rust: true,
      swift: true,
      js: ['axios', 'jquery', 'ofetch', 'xhr'],
      shell: ['httpie', 'wget'],
    },
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hideClientButton: true,
    showDeveloperTools: 'never',
    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    onLoaded: () => document.querySelector('#loading')?.remove(),
  });
}

void start();
