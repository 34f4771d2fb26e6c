import { printType, type GraphQLObjectType } from 'graphql';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idOf, message, oneOf, orNull, recordOf, selectableRecord } from '#api/actions/kit/action-parts.ts';
import { defineAction } from '#api/actions/kit/define-action.ts';
import { actionField } from '#api/graphql/derived/action-field.ts';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { idSchema } from '#api/http/request-schemas.ts';
import { actionRoute } from '#api/rest/records/action-route.ts';
import { registry } from '#entities/index.ts';
import { tag } from '#entities/work/tag.ts';
import { task } from '#entities/work/task.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const texts = { tag: 'Tasks', summary: 'Plan a task', description: 'Sets `dueAt` of the task.' } as const;

const planTask = defineAction({
  ...texts,
  name: 'planTask',
  url: '/v1/tasks/:id/plan',
  input: {
    id: idSchema('Id of the task.'),
    dueAt: Type.Optional(Type.String({ format: 'date-time', maxLength: 40, description: 'When.' })),
    way: oneOf(['early', 'late'], 'Which way.', { name: 'PlanWay', description: 'Ways to plan.' }),
  },
  answer: {
    task: recordOf(task),
    tag: selectableRecord(tag, 'Its tag.'),
    plannedCount: Type.Integer({ description: 'How many.' }),
    formerId: orNull(idOf('What was.')),
    message,
  },
  title: 'PlannedTask',
  limits: [{ per: 'record', uses: 1, windowMs: 1_000, exceeded: 'Too often' }],
  errors: ['not_found'],
  deprecated: { since: '2026-05-01', sunset: '2027-05-01', successor: '/v1/new' },
  run: (_asking, { id }) =>
    Promise.resolve({ task: id, tag: id, plannedCount: 1, formerId: null, message: 'It is planned.' }),
});

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

describe('an action', () => {
  test('has a route with the names of REST', () => {
    const { body, params, answers, ...route } = actionRoute(planTask);
    expect(route).toMatchObject({
      method: 'POST',
      url: '/v1/tasks/:id/plan',
      operationId: 'planTask',
      description: 'Sets `due_at` of the task.',
      deprecated: { since: '2026-05-01' },
      errors: ['not_found', 'too_many_requests'],
    });
    expect(Object.keys(params?.properties ?? {})).toEqual(['id']);
    expect(body).toMatchObject({ required: ['way'], additionalProperties: false });
    expect(Object.keys(body?.properties ?? {})).toEqual(['due_at', 'way']);
    expect(answers[200]).toMatchObject({
      title: 'PlannedTask',
      required: expect.arrayContaining(['title', 'message', 'planned_count', 'former_id']),
    });
  });

  test('has a mutation with the same parts, and the records that it names', () => {
    const schema = deriveSchema(registry, [actionField(planTask)]);
    const { deprecationReason, description, args, type } = schema.getMutationType()?.getFields()['planTask'] ?? {};
    expect(description).toBe('Sets `dueAt` of the task.');
    expect(deprecationReason).toBe('Deprecated since 2026-05-01. It may be missing from 2027-05-01 on. Use /v1/new.');
    expect(Object.fromEntries((args ?? []).map((argument) => [argument.name, String(argument.type)]))).toEqual({
      id: 'ID!',
      dueAt: 'DateTime',
      way: 'PlanWay!',
    });
    expect(String(type)).toBe('PlanTaskPayload!');
    const payload = (schema.getType('PlanTaskPayload') as GraphQLObjectType).getFields();
    expect(Object.fromEntries(Object.values(payload).map((field) => [field.name, String(field.type)]))).toEqual({
      task: 'Task!',
      tag: 'Tag!',
      plannedCount: 'Int!',
      formerId: 'ID',
      held: '[HeldField!]!',
      proposals: '[TaskProposal!]!',
    });
    expect(printType(schema.getType('PlanWay') as GraphQLObjectType)).toContain('EARLY\n  LATE');
  });

  test.each([
    ['names a parameter that is no input', { url: '/v1/tasks/:task/plan' }],
    ['counts uses of a record without an id', { url: '/v1/tasks/plan', input: {} }],
  ] as const)('is refused if it %s', (_what, change) => {
    expect(() => defineAction({ ...planTask.definition, ...change })).toThrow(TypeError);
  });
});

describe('input', () => {
  test('is checked by one schema, over REST and GraphQL', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const { status, body } = await client.post('/v1/organizations', { name: 'x'.repeat(161) });
    const { errors } = (await client.graphql(
      'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
      { name: 'x'.repeat(161) },
    )) as { readonly errors: readonly { readonly extensions: object }[] };
    expect(status).toBe(400);
    expect(errors[0]?.extensions).toMatchObject({ code: 'invalid_input', errors: body.errors });
  });

  test('that is null counts as omitted where it is no value', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const { data } = await client.graphql(
      'mutation { createOrganization(input: { name: "null stands for none", displayName: null }) { organization { name } } }',
    );
    expect(data.createOrganization.organization).toEqual({ name: 'null stands for none' });
  });
});

describe('an action that calls another system', () => {
  const verify = 'verifyEmailDomains { domains { domain isProven } }';

  test('is the only field of its operation, and the others leave nothing behind', async () => {
    const client = await signedIn(world, await buildPerson(world));
    expect((await client.graphql(`mutation { __typename ${verify} }`)).data.verifyEmailDomains).toEqual({
      domains: [],
    });
    const others = `createTask(input: { title: "beside a call" }) { task { id } }`;
    for (const both of [`${others} ${verify}`, `${verify} ${others}`, `${verify} again: ${verify}`]) {
      const { errors, data } = await client.graphql(`mutation { ${both} }`);
      expect(errors[0]?.extensions).toMatchObject({ code: 'invalid_input' });
      expect(data).toBeNull();
    }
    expect((await client.get('/v1/tasks')).body.data).toEqual([]);
  });

  test('refuses keys of idempotency, and others', async () => {
    const client = await signedIn(world, await buildPerson(world));
    const key = { 'idempotency-key': 'outside' };
    expectProblem(await client.post('/v1/email-domains/verify', {}, key), 'invalid_input');
    const { body } = await client.post('/graphql', { query: `mutation { ${verify} }` }, key);
    expect(body.errors[0]).toMatchObject({ extensions: { code: 'invalid_input' } });
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: (await buildPerson(world)).organization, role: 'member' }),
    );
    expectProblem(await member.post('/v1/email-domains/verify'), 'permission_denied');
  });
});

test('a template is previewed over GraphQL as over REST', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const topic = 'task.assigned';
  const { body } = await client.post('/v1/notification-templates/preview', {
    topic,
    subject_template: 'Now',
    body_template: 'Then',
  });
  const { data } = await client.graphql(
    'mutation ($topic: String!) { previewNotificationTemplate(topic: $topic, subjectTemplate: "Now", bodyTemplate: "Then") { subject text html } }',
    { topic },
  );
  expect(data.previewNotificationTemplate).toEqual(body);
});
