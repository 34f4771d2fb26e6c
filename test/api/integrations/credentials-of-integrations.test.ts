import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wantedLoops } from '#activities/clients/integrations/wanted-loops.ts';
import { integrationDefinitions } from '#activities/clients/integrations/definitions.ts';
import { integration } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { openChatConnections, type ChatConnections } from '../../kit/integrations/chat-connection.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';

let ground: ChatConnections;
let client: TestClient;
let id: string;

beforeAll(async () => {
  ground = await openChatConnections();
  id = await ground.connect('T1');
  client = await ground.client();
});
afterAll(() => ground.close());

/** The credential of the integration, as people see it. */
async function credential(): Promise<{ readonly id: string; readonly record_version: number }> {
  const { body } = await client.get(`/v1/secrets?integration_id=${id}`);
  expect(body.data, JSON.stringify(body)).toHaveLength(1);
  return body.data[0];
}

describe('a credential that the server keeps', () => {
  test('is listed for managers without its value', async () => {
    const held = await credential();
    expect(held).toMatchObject({ integration_id: id, credential_ref: 'workspace', credential_type: 'other' });
    expect(held).not.toHaveProperty('value');
    const { data } = await client.graphql(
      'query ($id: ID!) { integration(id: $id) { credentials { edges { node { id credentialRef } } } } }',
      { id },
    );
    expect(data.integration.credentials.edges).toEqual([{ node: { id: held.id, credentialRef: 'workspace' } }]);
    const { errors } = await client.graphql('query ($id: ID!) { secret(id: $id) { value } }', { id: held.id });
    expect(errors[0].message).toContain('Cannot query field "value"');
  });

  test('is neither changed nor deleted by people, over REST or GraphQL', async () => {
    const held = await credential();
    const url = `/v1/secrets/${held.id}`;
    for (const payload of [
      { name: 'mine' },
      { value: 'planted' },
      { expires_at: '2030-01-01T00:00:00Z' },
      { metadata: {} },
    ])
      expectProblem(await client.mutate({ method: 'PATCH', url, payload }), 'rule_violated');
    expectProblem(await client.mutate({ method: 'DELETE', url }), 'rule_violated');
    for (const [query, variables] of [
      ['mutation ($id: ID!) { updateSecret(id: $id, input: { value: "planted" }) { updatedId } }', { id: held.id }],
      ['mutation ($id: ID!) { deleteSecret(id: $id) { deletedId } }', { id: held.id }],
    ] as const)
      expect((await client.graphql(query, variables)).errors).toMatchObject([
        { extensions: { code: 'rule_violated' } },
      ]);
    const bulk = await client.graphql(
      'mutation ($id: ID!) { deleteBulkSecret(ids: [$id]) { deletedIds notDeleted { id code } } }',
      { id: held.id },
    );
    expect(bulk.data.deleteBulkSecret).toEqual({
      deletedIds: [],
      notDeleted: [{ id: held.id, code: 'rule_violated' }],
    });
    expect(await credential()).toEqual(held);
  });

  test('is made by nobody else: people set neither its integration nor its name there', async () => {
    for (const more of [{ integration_id: id }, { credential_ref: 'workspace' }])
      expectProblem(await client.post('/v1/secrets', { name: 'mine', value: 'x', ...more }), 'invalid_input');
  });

  test('T-50: people of other organizations and members find neither it nor a way to connect the integration', async () => {
    const held = await credential();
    const strangers = [
      await signedIn(ground.world, await buildPerson(ground.world)),
      await signedIn(
        ground.world,
        await buildPerson(ground.world, { organization: ground.owner.organization, role: 'member' }),
      ),
    ];
    for (const stranger of strangers) {
      expectProblem(await stranger.get(`/v1/secrets/${held.id}`), 'not_found');
      expect((await stranger.get('/v1/secrets')).body.data ?? []).toEqual([]);
      for (const [url, body] of [
        ['/v1/integrations/chat/config', { integration_id: id, user_input: {} }],
        ['/v1/integrations/auth/start', { definition_id: 'chat', integration_id: id }],
        [`/v1/integrations/${id}/disconnect`, {}],
        [`/v1/integrations/${id}/operations/run`, { operation: 'messageSend', input: { text: 'x' } }],
      ] as const)
        expectProblem(await stranger.post(url, body), 'not_found', url);
    }
    const missing = await client.post('/v1/integrations/auth/start', {
      definition_id: 'chat',
      integration_id: held.id,
    });
    expectProblem(missing, 'not_found');
    expect((await client.get(`/v1/integrations/${id}`)).body).toMatchObject({ status: 'connected' });
  });
});

describe('records of integrations', () => {
  test('are made and deleted by operations that are deprecated', async () => {
    const created = await client.post('/v1/integrations', { name: 'by hand' });
    expect(created.status).toBe(201);
    expect(created.headers).toMatchObject({
      deprecation: expect.stringMatching(/^@\d+$/),
      link: expect.stringContaining('</docs#configureIntegration>; rel="deprecation"'),
    });
    const url = `/v1/integrations/${created.body.id}`;
    const patched = await client.mutate({ method: 'PATCH', url, payload: { name: 'renamed', description: 'Why.' } });
    expect(patched.body).toMatchObject({ name: 'renamed', description: 'Why.' });
    expect(patched.headers['deprecation']).toBeUndefined();
    const removed = await client.mutate({ method: 'DELETE', url });
    expect(removed.status).toBe(204);
    expect(removed.headers['link']).toContain('</docs#disconnectIntegration>');
    const { body } = await client.get('/openapi.json');
    expect(body.paths['/v1/integrations'].post.deprecated).toBe(true);
    expect(body.paths['/v1/integrations/{id}'].delete.deprecated).toBe(true);
    expect(body.paths['/v1/integrations/{id}'].patch.deprecated).toBeUndefined();
    const { data } = await client.graphql(
      '{ __type(name: "Mutation") { fields(includeDeprecated: true) { name deprecationReason } } }',
    );
    const reasons = new Map<string, string | null>(
      data.__type.fields.map((field: { name: string; deprecationReason: string | null }) => [
        field.name,
        field.deprecationReason,
      ]),
    );
    for (const name of ['createIntegration', 'createBulkIntegration', 'createBulkCSVIntegration'])
      expect(reasons.get(name)).toBe('Deprecated since 2026-11-28. Use configureIntegration.');
    for (const name of ['deleteIntegration', 'deleteBulkIntegration'])
      expect(reasons.get(name)).toBe('Deprecated since 2026-11-28. Use disconnectIntegration.');
    expect(reasons.get('updateIntegration')).toBeNull();
  });

  test('are renamed and described by people while they are connected', async () => {
    const url = `/v1/integrations/${id}`;
    const { status, body } = await client.mutate({
      method: 'PATCH',
      url,
      payload: { name: 'Chat of all', description: 'Messages of the whole organization.' },
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { name: 'Chat of all', status: 'connected' } });
    for (const payload of [{ status: 'connected' }, { user_input: {} }, { account_id: 'T2' }])
      expectProblem(await client.mutate({ method: 'PATCH', url, payload }), 'invalid_input');
  });
});

describe('an operation that is repeated', () => {
  const configure = (userInput: object) =>
    client.post('/v1/integrations/chat/config', { integration_id: id, user_input: userInput });
  const loops = async () =>
    wantedLoops(await asSystem(ground.world, ground.owner.organization.id, (data) => data.get(integration, id)));

  test('can be switched off in every definition that has one', async () => {
    const { body } = await client.get('/v1/integration-definitions');
    const chat = body.data.find((one: { id: string }) => one.id === 'chat');
    expect(chat.user_input.properties.disabledOperations.items.enum).toEqual(['directorySync']);
    for (const { userInput, operations } of integrationDefinitions)
      expect('disabledOperations' in userInput.properties).toBe(
        operations.some((one) => one.policy === 'run' && one.isLooped),
      );
  });

  test('is not repeated while it is off, and can be run', async () => {
    expect(await loops()).toEqual(['directorySync']);
    expectProblem(await configure({ disabledOperations: ['nothing'] }), 'invalid_input');
    expectProblem(await configure({ disabledOperations: ['directorySync', 'directorySync'] }), 'invalid_input');
    expect((await configure({ disabledOperations: ['directorySync'] })).status).toBe(200);
    expect(await loops()).toEqual([]);
    const run = await client.post(`/v1/integrations/${id}/operations/run`, { operation: 'directorySync' });
    expect(run.body).toMatchObject({ status: 'queued' });
    expect((await configure({})).status).toBe(200);
    expect(await loops()).toEqual(['directorySync']);
    expect(await asOwner(ground.world, 'select 1 from secrets where integration_id = $1', [id])).toHaveLength(1);
  });
});
