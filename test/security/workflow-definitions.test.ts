import { afterAll, beforeAll, expect, test } from 'vitest';
import { automatedKinds } from '#entities/automation/document/automated-kinds.ts';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { answeredFields } from '#entities/kit/model/exposure.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let definition: string;
let dryRun: string;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const saved = await client.post(url, { name: 'Definition', record_kind: 'task', document: documentWith({}) });
  definition = saved.body.id;
  dryRun = (await client.post(`${url}/${definition}/dry-run`, { days: 1 })).body.id;
  expect(dryRun).toMatch(/^\w{26}$/);
});
afterAll(() => world.close());

const url = '/v1/workflow-definitions';
const tell = { key: 'tell', type: 'NOTIFY', params: { targets: [{ type: 'ROLE', id: 'owner' }], title: 'Changed' } };

function documentWith(more: object) {
  return { schemaType: 'Task', triggers: [{ operation: 'UPDATE' }], actions: [tell], ...more };
}

/** Actions about a definition, with a body that fits. */
const callsFor = (id: string): readonly (readonly [string, Record<string, unknown>])[] => [
  [`${url}/${id}/publish`, {}],
  [`${url}/${id}/retire`, {}],
  [`${url}/${id}/dry-run`, { days: 1 }],
  [`${url}/${id}/try`, { operation: 'update', before: { title: 'a' }, changes: { title: 'b' } }],
];

const rows = () =>
  asOwner(
    world,
    `select d.status, d.record_version, (select count(*)::int from workflow_versions) as versions,
       (select count(*)::int from workflow_dry_runs) as runs, (select count(*)::int from workflow_definitions) as definitions
     from workflow_definitions d where d.id = $1`,
    [definition],
  );

test('T-50: owners of other organizations and members publish, retire and try no definition', async () => {
  const stranger = await signedIn(world, await buildPerson(world));
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  const before = await rows();
  const others = callsFor(newId());
  for (const [n, [path, body]] of callsFor(definition).entries()) {
    const [otherPath] = others[n] as (typeof others)[number];
    const [real, random] = [await stranger.post(path, body), await stranger.post(otherPath, body)];
    expect([real.status, real.body.code], path).toEqual([404, 'not_found']);
    expect([random.status, random.body.code], path).toEqual([404, 'not_found']);
    expect((await member.post(path, body)).body.code, path).toBe('permission_denied');
    expect((await world.client().post(path, body)).status, path).toBe(401);
  }
  for (const [by, codes] of [
    [stranger, ['not_found', 'not_found']],
    [member, [undefined, 'not_found']],
  ] as const) {
    expect((await by.get(`${url}/${definition}`)).body.code).toBe(codes[0]);
    expect((await by.get(`/v1/workflow-dry-runs/${dryRun}`)).body.code).toBe(codes[1]);
  }
  expect(await rows()).toEqual(before);
});

test('T-50: a definition names no group, member, endpoint or tag of another organization', async () => {
  const foreign = await buildPerson(world);
  const theirs = await signedIn(world, foreign);
  const group = (await theirs.post('/v1/groups', { name: 'Theirs' })).body.id as string;
  const tag = (await theirs.post('/v1/tags', { name: 'theirs' })).body.id as string;
  const documents = (id: { group: string; tag: string; user: string }) => [
    documentWith({ actions: [{ ...tell, params: { ...tell.params, targets: [{ type: 'GROUP', id: id.group }] } }] }),
    documentWith({ actions: [{ ...tell, params: { ...tell.params, targets: [{ type: 'USER', id: id.user }] } }] }),
    documentWith({ targets: { groupIds: [id.group] } }),
    documentWith({ triggers: [{ operation: 'UPDATE', selector: { tagIds: [id.tag] } }] }),
    documentWith({ actions: [{ key: 'call', type: 'WEBHOOK', params: { endpoint_id: id.group, payload: {} } }] }),
  ];
  const problems = async (document: object, ids: readonly string[]) => {
    const { body } = await client.post(`${url}/validate`, { record_kind: 'task', document });
    return ids.reduce((text, id) => text.replaceAll(id, 'ID'), JSON.stringify(body.problems));
  };
  const real = { group, tag, user: foreign.user.id };
  const random = { group: newId(), tag: newId(), user: newId() };
  const unknown = documents(random);
  for (const [n, document] of documents(real).entries()) {
    const found = await problems(document, Object.values(real));
    expect(found).not.toBe('[]');
    expect(found).toBe(await problems(unknown[n] as object, Object.values(random)));
  }
});

const automated = automatedKinds(registry);

test.each(automated.map((module) => [module.kind, module] as const))(
  'T-53, T-122: no part of a definition about %s reads or writes a hidden field',
  async (kind, module) => {
    const shown = new Set(answeredFields(module));
    const hidden = Object.keys(module.fields).filter((name) => !shown.has(name));
    const secret = Object.keys(module.fields).filter((name) => module.fields[name]?.secret);
    expect(hidden).toEqual(expect.arrayContaining(secret));
    for (const name of [...new Set([...hidden, 'deletedAt', 'constructor', '__proto__'])].map(snakeCase)) {
      const of = (more: object) => ({ ...documentWith(more), schemaType: module.typeName });
      const parts = [
        of({ triggers: [{ operation: 'UPDATE', expression: `object.${name} == object.${name}` }] }),
        of({ conditions: [{ expression: `old_object != null && has(old_object.${name})` }] }),
        of({ triggers: [{ operation: 'UPDATE', fields: [name] }] }),
        of({ actions: [{ ...tell, params: { ...tell.params, title: { expr: `string(object.${name})` } } }] }),
        of({ actions: [{ key: 'set', type: 'UPDATE_FIELD', params: { updates: JSON.parse(`{"${name}":"x"}`) } }] }),
        of({
          actions: [{ key: 'ask', type: 'REQUEST_APPROVAL', params: { targets: tell.params.targets, fields: [name] } }],
        }),
      ];
      for (const document of parts) {
        const answer = await client.post(`${url}/validate`, { record_kind: kind, document });
        const isRefused = answer.status === 400 || (answer.status === 200 && answer.body.problems.length > 0);
        expect(isRefused, `${name}: ${JSON.stringify([document, answer.body])}`).toBe(true);
      }
    }
  },
);

const odd = [{ $ne: null }, { __raw: '1 = 1' }, ['x'], 7, true, null];

test('T-120: objects in the place of texts, ids and times are refused in every part of a definition', async () => {
  const before = await rows();
  const at = (value: unknown) => [
    { name: value, record_kind: 'task', document: documentWith({}) },
    { name: 'odd', record_kind: value, document: documentWith({}) },
    ...[
      { schemaType: value },
      { triggers: [{ operation: value }] },
      { triggers: [{ operation: 'UPDATE', expression: value }] },
      { triggers: [{ operation: 'UPDATE', fields: [value] }] },
      { triggers: [{ operation: 'UPDATE', selector: { tagIds: [value] } }] },
      { targets: { groupIds: [value] } },
      { conditions: [{ expression: value }] },
      { actions: [{ ...tell, key: value }] },
      { actions: [{ ...tell, params: { ...tell.params, targets: [{ type: 'USER', id: value }] } }] },
      { actions: [{ ...tell, params: { ...tell.params, title: value } }] },
      { actions: [{ key: 'call', type: 'WEBHOOK', params: { endpoint_id: value } }] },
      { actions: [{ key: 'set', type: 'UPDATE_FIELD', params: { updates: { status: value } } }] },
    ].map((more) => ({ name: 'odd', record_kind: 'task', document: documentWith(more) })),
  ];
  for (const value of odd)
    for (const payload of at(value)) {
      const answer = await client.post(url, payload);
      expect(answer.status, JSON.stringify([payload, answer.body])).toBe(400);
    }
  for (const value of odd)
    for (const [path, body] of callsFor(definition))
      for (const name of Object.keys(body)) {
        if (value === null) continue;
        const answer = await client.post(path, { ...body, [name]: value });
        const isTaken = name === 'days' && value === 7;
        if (!isTaken) expect(answer.status, `${path} ${JSON.stringify([name, value])}`).toBe(400);
      }
  const [{ definitions }] = before as [{ definitions: number }];
  expect(await rows()).toMatchObject([{ status: 'draft', versions: 0, definitions }]);
});

test('T-121: names of prototypes in documents, values and expressions change no prototype', async () => {
  const bodies = ['__proto__', 'constructor', 'prototype'].flatMap((name) => {
    const member = `{"${name}":{"polluted":"yes"}}`;
    return [
      `{"name":"x","record_kind":"task","document":${JSON.stringify(documentWith({ metadata: 0 })).replace('"metadata":0', `"metadata":${member}`)}}`,
      `{"name":"x","record_kind":"task","document":{"schemaType":"Task","${name}":{"polluted":"yes"}}}`,
      `{"name":"x","record_kind":"${name}","document":{"schemaType":"${name}"}}`,
    ];
  });
  for (const payload of bodies)
    await client.mutate({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload });
  for (const name of ['__proto__', 'constructor', 'prototype'])
    for (const place of ['before', 'changes']) {
      const payload = `{"operation":"update","${place}":{"${name}":{"polluted":"yes"}}}`;
      const headers = { 'content-type': 'application/json' };
      const answer = await client.mutate({ method: 'POST', url: `${url}/${definition}/try`, headers, payload });
      expect(answer.status, payload).toBe(400);
    }
  const expression = '{"__proto__": {"polluted": "yes"}, "constructor": "x"}.size() == 2';
  const document = documentWith({ triggers: [{ operation: 'UPDATE', expression }] });
  const saved = await client.post(url, { name: 'map', record_kind: 'task', document });
  if (saved.status === 201) await client.post(`${url}/${saved.body.id}/try`, { operation: 'update' });
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect((() => {}).constructor.prototype).not.toHaveProperty('polluted');
});
