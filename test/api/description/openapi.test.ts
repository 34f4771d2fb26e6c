import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import { errorCatalogue } from '#entities/kit/base/error-catalogue.ts';
import { resolved, target, type DescribedApi, type DescribedOperation } from '../../kit/http/described-api.ts';
import { isScimPath } from '../../kit/http/is-scim-path.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let document: DescribedApi;
let operations: [string, DescribedOperation][];

beforeAll(async () => {
  world = await openWorld();
  document = (await world.client().get('/openapi.json')).body;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, DescribedOperation] => [
      `${method.toUpperCase()} ${path}`,
      resolved(document, operation),
    ]),
  );
});
afterAll(() => world.close());

const isSentence = (text: string | undefined) => text !== undefined && /^[A-Z`/].*\.$/su.test(text.trim());

describe('/openapi.json', () => {
  test('and the pages of the reference are serialized once', async () => {
    const client = world.client();
    const urls = ['/openapi.json', '/docs', '/docs/errors'];
    const before = await Promise.all(urls.map((url) => client.get(url)));
    const made = vi.spyOn(world.api.app, 'swagger');
    const again = await Promise.all(urls.map((url) => client.get(url)));
    expect(made).not.toHaveBeenCalled();
    made.mockRestore();
    expect(again.map(({ body }) => body)).toEqual(before.map(({ body }) => body));
    expect(again.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json; charset=utf-8',
      'text/html; charset=utf-8',
      'text/html; charset=utf-8',
    ]);
  });

  test('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone({ ...document }));
    expect(errors).toBeUndefined();
    expect([valid, validator.version]).toEqual([true, '3.1']);
  });

  test('has names for operations, schemas and credentials that generators can use, each once', () => {
    const ids = operations.map(([, { operationId }]) => operationId ?? '');
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(
      expect.arrayContaining([
        'listTasks',
        'getTask',
        'createTask',
        'updateTask',
        'deleteTask',
        'aggregateTasks',
        'login',
      ]),
    );
    const { schemas } = document.components;
    expect(Object.keys(schemas).filter((name) => !/^[A-Z][A-Za-z0-9]+$/.test(name))).toEqual([]);
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining(['Task', 'TaskPage', 'CreateTaskInput', 'UpdateTaskInput', 'Problem', 'TaskCreatedEvent']),
    );
    expect(document.servers).toEqual([{ url: expect.stringMatching(/^https?:/) }]);
    const text = JSON.stringify(document);
    // The whole problem document stands in one place.
    expect(text.split('Quote it in support requests').length - 1).toBeLessThanOrEqual(2);
    for (const [, reference = ''] of text.matchAll(/"\$ref":"([^"]+)"/g))
      expect(() => target(document, { $ref: reference }), reference).not.toThrow();
  });

  test('says which credentials every operation takes', () => {
    const taken = new Map(operations.map(([name, { security }]) => [name, security]));
    const browser = { session: [], csrfCookie: [], csrfHeader: [] };
    expect(taken.get('GET /livez')).toEqual([]);
    expect(taken.get('GET /v1/tasks')).toEqual([{ accessToken: [] }, { apiToken: [] }, { session: [] }]);
    expect(taken.get('POST /v1/tasks')).toEqual([{ accessToken: [] }, { apiToken: [] }, browser]);
    expect(taken.get('POST /v1/change-password')).toEqual([{ accessToken: [] }, browser]);
    expect(taken.get('POST /v1/login')).toEqual([{ csrfCookie: [], csrfHeader: [] }, { accessToken: [] }, browser]);
    expect(taken.get('POST /v1/email/webhook/providera')).toEqual([]);
    for (const [name, sets] of taken) expect(sets, name).toBeDefined();
  });

  test('names the header and the cookie of the CSRF token as they are configured', async () => {
    await world.reconfigure({ CORE_SERVER_CSRFPROTECTION_HEADER: 'X-Own', CORE_SERVER_CSRFPROTECTION_COOKIE: 'own' });
    const { securitySchemes } = (await world.client().get('/openapi.json')).body.components;
    expect([securitySchemes.csrfHeader.name, securitySchemes.csrfCookie.name]).toEqual(['X-Own', 'own']);
    await world.reconfigure({
      CORE_SERVER_CSRFPROTECTION_HEADER: undefined,
      CORE_SERVER_CSRFPROTECTION_COOKIE: undefined,
    });
  });

  test('has the headers of answers', () => {
    const headersOf = (name: string, status: string) =>
      Object.keys(operations.find(([one]) => one === name)?.[1].responses?.[status]?.headers ?? {});
    const all = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];
    expect(headersOf('GET /v1/tasks/{id}', '200')).toEqual([...all, 'ETag']);
    expect(headersOf('POST /v1/tasks', '201')).toEqual([...all, 'ETag', 'Location', 'Idempotency-Replayed']);
    expect(headersOf('GET /v1/tasks', '429')).toEqual([...all, 'Retry-After']);
    expect(headersOf('GET /livez', '200')).toEqual(['X-Request-Id']);
  });

  test('has every route and nothing else', () => {
    const declared = routesOf(registry).map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
    expect(operations.map(([name]) => name).toSorted()).toEqual(declared.toSorted());
  });

  test('says of every operation what it is for', () => {
    const names = new Set(document.tags.map(({ name }) => name));
    for (const [name, { summary, description, tags }] of operations) {
      expect(summary, name).toMatch(/^[A-Z]\S.*[^.]$/u);
      expect(isSentence(description), `${name}: ${description}`).toBe(true);
      expect(tags?.every((tag) => names.has(tag)) && tags.length === 1, name).toBe(true);
    }
    const summaries = operations.map(([, { summary }]) => summary);
    expect(summaries.length - new Set(summaries).size, 'summaries that stand twice').toBeLessThanOrEqual(1);
  });

  test('says of every operation how it is refused, as problem documents', () => {
    for (const [name, { responses = {}, requestBody, parameters = [] }] of operations) {
      if (requestBody || parameters.some((one) => one.in !== 'header'))
        expect(responses['400']?.description, name).toContain('`invalid_input`');
      const refusals = Object.entries(responses).filter(
        ([status, { content }]) => Number(status) >= 400 && !content?.['application/json'],
      );
      expect(refusals.length, name).toBeGreaterThan(0);
      for (const [status, { description, content }] of refusals) {
        expect(Object.keys(content ?? {}), `${name} ${status}`).toEqual([
          isScimPath(name.split(' ')[1] ?? '') ? 'application/scim+json' : 'application/problem+json',
        ]);
        expect(description?.length, `${name} ${status}`).toBeGreaterThan(10);
      }
      if (name.startsWith('GET ')) continue;
      // What any mutation can be refused for: its input and its CSRF token.
      expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['400', '403']));
      if (requestBody) expect(Object.keys(responses), name).toEqual(expect.arrayContaining(['413', '415']));
    }
  });

  test('says how large a page is that nobody gave a size, whatever the limit', () => {
    for (const [name, { parameters = [] }] of operations) {
      const first = parameters.find((parameter) => parameter.name === 'first');
      if (first)
        expect(first.description, name).toMatch(
          /Without (first and last|it): 25, or the largest page size if that is smaller/,
        );
    }
  });

  test('says how many records a page can have, as the configuration is now', async () => {
    const limits = async () => {
      const { body } = await world.client().get('/openapi.json');
      const { parameters = [] } = resolved(body, body.paths['/v1/tasks'].get);
      return ['first', 'last'].map((name) => parameters.find((one) => one.name === name)?.schema);
    };
    const expected = (maximum: number) => [
      { type: 'integer', minimum: 0, maximum },
      { type: 'integer', minimum: 0, maximum },
    ];
    expect(await limits()).toEqual(expected(world.config.current.server.maxresultlimit));
    await world.reconfigure({ CORE_SERVER_MAXRESULTLIMIT: '77' });
    expect(await limits()).toEqual(expected(77));
    await world.reconfigure({ CORE_SERVER_MAXRESULTLIMIT: undefined });
  });

  test('has the bodies of uploads, which no schema checks', () => {
    const bodyOf = (name: string) => operations.find(([one]) => one === name)?.[1].requestBody?.content;
    const form = bodyOf('POST /v1/uploads')?.['multipart/form-data']?.schema ?? {};
    expect(target(document, form)).toMatchObject({ properties: { uploadFile: { items: { format: 'binary' } } } });
    expect(bodyOf('PATCH /v1/uploads/{id}')).toMatchObject({
      'application/offset+octet-stream': { schema: { format: 'binary' } },
    });
    expect(bodyOf('PUT /v1/uploads/{id}/content')).toMatchObject({ '*/*': { schema: { format: 'binary' } } });
  });

  test('has the answer to a new organization, which is the whole record', () => {
    const schemaOf = (name: string, status: string) =>
      operations.find(([one]) => one === name)?.[1].responses?.[status]?.content?.['application/json']?.schema;
    expect(schemaOf('POST /v1/organizations', '201')).toEqual(schemaOf('GET /v1/organizations/{id}', '200'));
  });

  test('says what every answer is', () => {
    for (const [name, { responses = {} }] of operations) {
      for (const [status, { description }] of Object.entries(responses)) {
        expect(description, `${name} ${status}`).not.toBe('');
        // What the printer says when nobody else says anything.
        expect(description, `${name} ${status}`).not.toBe('Default Response');
      }
    }
  });
});

describe('what is described is what is answered', () => {
  test('by every operation that can be asked without more', async () => {
    const client = world.client();
    for (const [name, { responses = {} }] of operations) {
      const [method, path = ''] = name.split(' ');
      if (method !== 'GET') continue;
      const answer = await client.get(path);
      const described = responses[String(answer.status)];
      expect(described, `${name} answered ${answer.status}`).toBeDefined();
      if (!described?.content) continue;
      const type = String(answer.headers['content-type']).split(';')[0] ?? '';
      const types = Object.keys(described.content).map((each) => each.split(';')[0]);
      expect(types, name).toContain(type);
    }
  });

  test('bodies that are written by hand describe names as those of records do', () => {
    const field = (schema: string, name: string) => document.components.schemas[schema]?.properties?.[name];
    const line = field('UpdateApiTokenInput', 'name')?.['pattern'];
    expect(line).toBeTypeOf('string');
    expect(field('RegisterPasskeyInput', 'name')).toEqual(field('UpdatePasskeyInput', 'name'));
    for (const [schema, name] of [
      ['CreateApiTokenInput', 'name'],
      ['CreatePersonalAccessTokenInput', 'name'],
      ['SetSingleSignOnProviderInput', 'client_id'],
    ] as const)
      expect(field(schema, name)?.['pattern'], schema).toBe(line);
  });
});

describe('the pages', () => {
  test('/ leads to /docs', async () => {
    const answer = await world.client().get('/');
    expect([answer.status, answer.headers['location']]).toEqual([302, '/docs']);
  });

  test('/docs consists of files of this server, whose policy allows no others', async () => {
    const client = world.client();
    const { status, headers, body } = await client.get('/docs');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*script-src 'self'.*connect-src 'self'/);
    const files = [...String(body).matchAll(/ src="([^"]+)"/g)].map(([, url]) => url as string);
    expect(files).toEqual(['/docs/scalar.js', '/pages/reference.js']);
    for (const url of files) {
      const file = await client.get(url);
      expect([file.status, file.headers['content-type']], url).toEqual([200, 'text/javascript; charset=utf-8']);
    }
  });

  test('/docs/errors explains every code under the address that problems name', async () => {
    const client = world.client();
    const { status, body } = await client.get('/docs/errors');
    expect(status).toBe(200);
    for (const [code, { title }] of Object.entries(errorCatalogue)) {
      expect(body).toContain(`<tr id="${code}">`);
      expect(body).toContain(title);
    }
    const { body: problem } = await client.get('/nowhere');
    expect(problem.type).toBe('/docs/errors#route_not_found');
  });
});
