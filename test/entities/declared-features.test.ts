import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { choice, date, decimal, reference, sealed, text } from '#entities/kit/model/fields.ts';
import { money } from '#entities/kit/model/composed/money.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import { refusesChanges } from '#entities/kit/model/behaviours/refuses-changes.ts';
import { organizationRecord } from '#entities/presets/organization-record.ts';
import { asOwner } from '../kit/as-owner.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { registryWith } from '../kit/records/synthetic-kinds.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/** A kind with the features that few kinds declare. */
const contract = defineEntityModule({
  kind: 'contract',
  table: 'contracts',
  description: 'Contract.',
  fields: {
    name: text('Name.', { max: 100, exposed: 'read-write', lists: ['filter', 'order'] }),
    startsOn: date('First day.', { exposed: 'read-write', lists: ['filter', 'order'] }),
    endsOn: date('Last day.', { optional: true, exposed: 'read-write' }),
    rate: decimal('Rate in percent.', {
      precision: 8,
      scale: 4,
      default: '0',
      exposed: 'read-write',
      lists: ['filter', 'order'],
    }),
    ...money('value', 'Value of the contract.', { optional: true, exposed: 'read-write', lists: ['filter', 'order'] }),
    sort: choice('Sort.', ['framework', 'single'], { default: 'single', exposed: 'read-write' }),
    frameworkId: reference('contract', 'Framework contract.', {
      optional: true,
      only: { sort: ['framework'] },
      exposed: 'read-write',
    }),
    state: choice('State.', ['draft', 'signed'], { default: 'draft', exposed: 'read-write' }),
    passphrase: sealed('Passphrase.', { max: 200, optional: true, exposed: 'write' }),
  },
  tenancy: 'organization',
  policy: organizationRecord(),
  behaviours: [
    refusesChanges([
      {
        on: ['edit', 'remove'],
        unlessSystem: true,
        refuseIf: `row.state = 'signed'`,
        field: 'state',
        code: 'permission_denied',
        message: 'A signed contract stays as it is.',
      },
      {
        on: ['create', 'edit'],
        refuseIf: 'given.ends_on < given.starts_on',
        field: 'endsOn',
        code: 'invalid_input',
        message: 'A contract ends after it begins.',
      },
    ]),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
});

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ registry: registryWith([contract]) });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

async function made(body: object): Promise<{ id: string; record_version: number }> {
  const answer = await client.post('/v1/contracts', { name: `contract ${newId()}`, starts_on: '2026-01-31', ...body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as { id: string; record_version: number };
}

describe('days', () => {
  test('come back as they were given, in every API, in the history and in the table', async () => {
    const { id } = await made({ ends_on: '2028-02-29' });
    const { body } = await client.get(`/v1/contracts/${id}`);
    expect([body.starts_on, body.ends_on]).toEqual(['2026-01-31', '2028-02-29']);
    const { data } = await client.graphql(
      `{ contract(id: "${id}") { startsOn endsOn }
        contractHistories(where: { recordId: { eq: "${id}" } }) { edges { node { endsOn } } } }`,
    );
    expect(data).toEqual({
      contract: { startsOn: '2026-01-31', endsOn: '2028-02-29' },
      contractHistories: { edges: [{ node: { endsOn: '2028-02-29' } }] },
    });
    const [row] = await asOwner<{ ends: string }>(world, 'select ends_on::text as ends from contracts where id = $1', [
      id,
    ]);
    expect(row?.ends).toBe('2028-02-29');
  });

  test.each(['2026-02-30', '2026-1-1', '0000-01-01', '2026-01-31T00:00:00Z', 'today', 5])(
    '%j is no day',
    async (day) => {
      const answer = await client.post('/v1/contracts', { name: 'wrong', starts_on: day });
      expectProblem(answer, 'invalid_input');
      expect(answer.body.fields?.[0]?.path ?? answer.body.errors?.[0]?.path).toContain('starts_on');
      const variables = { input: { name: 'wrong', startsOn: day } };
      const graphql = 'mutation ($input: CreateContractInput!) { createContract(input: $input) { contract { id } } }';
      expectGraphqlError(await client.graphql(graphql, variables), 'invalid_input');
    },
  );

  test('are filtered and ordered, and a cursor continues after one', async () => {
    const name = `days ${newId()}`;
    for (const day of ['2026-03-01', '2025-12-31', '2026-02-28']) await made({ name, starts_on: day });
    const list = `/v1/contracts?name=${encodeURIComponent(name)}&order_by=starts_on&first=2`;
    const first = await client.get(list);
    expect(first.body.data.map((each: { starts_on: string }) => each.starts_on)).toEqual(['2025-12-31', '2026-02-28']);
    const second = await client.get(`${list}&after=${first.body.page_info.end_cursor}`);
    expect(second.body.data.map((each: { starts_on: string }) => each.starts_on)).toEqual(['2026-03-01']);
    const later = await client.get(
      `/v1/contracts?name=${encodeURIComponent(name)}&starts_on[gte]=2026-02-28&count=true`,
    );
    expect(later.body.total_count).toBe(2);
  });

  test('a change to the same day is no change', async () => {
    const { id, record_version } = await made({});
    const { body } = await client.mutate({
      method: 'PATCH',
      url: `/v1/contracts/${id}`,
      payload: { starts_on: '2026-01-31' },
    });
    expect(body.record_version).toBe(record_version);
  });
});

describe('decimal numbers', () => {
  test('are exact, have all digits of their scale, and equal numbers are equal', async () => {
    const { id, record_version } = await made({ rate: '1.5', value: '999999999999999.9999', value_currency: 'eur' });
    const { body } = await client.get(`/v1/contracts/${id}`);
    expect([body.rate, body.value, body.value_currency]).toEqual(['1.5000', '999999999999999.9999', 'eur']);
    const same = await client.mutate({ method: 'PATCH', url: `/v1/contracts/${id}`, payload: { rate: '1.50' } });
    expect(same.body.record_version).toBe(record_version);
    const { data } = await client.graphql(
      `{ contract(id: "${id}") { rate value valueCurrency }
        contractHistories(where: { recordId: { eq: "${id}" } }) { edges { node { value } } } }`,
    );
    expect(data).toEqual({
      contract: { rate: '1.5000', value: '999999999999999.9999', valueCurrency: 'EUR' },
      contractHistories: { edges: [{ node: { value: '999999999999999.9999' } }] },
    });
  });

  test.each(['1,5', '-1', '1e3', '12345.1', '1.23456', ' 1 2', '', 1.5, 'NaN'])('%j is refused', async (rate) => {
    const answer = await client.post('/v1/contracts', { name: 'wrong', starts_on: '2026-01-31', rate });
    expectProblem(answer, 'invalid_input');
    const graphql = 'mutation ($input: CreateContractInput!) { createContract(input: $input) { contract { id } } }';
    const variables = { input: { name: 'wrong', startsOn: '2026-01-31', rate } };
    expectGraphqlError(await client.graphql(graphql, variables), 'invalid_input');
  });

  test('are ordered as numbers, and a cursor continues after one without rounding it', async () => {
    const name = `rates ${newId()}`;
    for (const value of ['10', '9.9999', '999999999999999.9998', '999999999999999.9999'])
      await made({ name, value, value_currency: 'usd' });
    const list = `/v1/contracts?name=${encodeURIComponent(name)}&order_by=value&first=3`;
    const first = await client.get(list);
    expect(first.body.data.map((each: { value: string }) => each.value)).toEqual([
      '9.9999',
      '10.0000',
      '999999999999999.9998',
    ]);
    const rest = await client.get(`${list}&after=${first.body.page_info.end_cursor}`);
    expect(rest.body.data.map((each: { value: string }) => each.value)).toEqual(['999999999999999.9999']);
    const most = await client.get(`/v1/contracts?name=${encodeURIComponent(name)}&value[gt]=10&count=true`);
    expect(most.body.total_count).toBe(2);
  });
});

test('an amount of money has a currency, at creation and in changes', async () => {
  const alone = await client.post('/v1/contracts', { name: 'alone', starts_on: '2026-01-31', value: '5' });
  expectProblem(alone, 'invalid_input');
  expect(JSON.stringify(alone.body)).toContain('is required where value has a value');
  const { id } = await made({ value: '5', value_currency: 'chf' });
  const change = (payload: object) => client.mutate({ method: 'PATCH', url: `/v1/contracts/${id}`, payload });
  expect((await change({ value: '6' })).body.value).toBe('6.0000');
  for (const payload of [{ value: null }, { value_currency: null }])
    expectProblem(await change(payload), 'invalid_input');
  const cleared = await change({ value: null, value_currency: null });
  expect([cleared.status, cleared.body.value, cleared.body.value_currency]).toEqual([200, null, null]);
  expectProblem(await change({ value: '7' }), 'invalid_input');
});

test('CSV has days and decimal numbers', async () => {
  const csv = 'name,starts_on,rate,value,value_currency\none,2026-05-01,2.25,10.5,eur\ntwo,2026-02-30,x,1,eur\n';
  const mutation =
    'mutation ($csv: String!) { createBulkCSVContract(csv: $csv) { contracts { name startsOn rate value } } }';
  const wrong = await client.graphql(mutation, { csv });
  expectGraphqlError(wrong, 'invalid_input');
  expect(wrong.errors[0].message).toContain('line 3, column "starts_on": must be a day such as 2026-01-31');
  expect(wrong.errors[0].message).toContain('line 3, column "rate": must be a decimal number');
  const right = await client.graphql(mutation, { csv: csv.split('\n').slice(0, 2).join('\n') });
  expect(right.data.createBulkCSVContract.contracts).toEqual([
    { name: 'one', startsOn: '2026-05-01', rate: '2.2500', value: '10.5000' },
  ]);
});

test('a reference that wants records with a value does not find others', async () => {
  const { id: single } = await made({});
  const { id: framework } = await made({ sort: 'framework' });
  const body = { name: 'below', starts_on: '2026-01-31' };
  expectProblem(await client.post('/v1/contracts', { ...body, framework_id: single }), 'not_found');
  const { id } = await made({ framework_id: framework });
  const payload = { framework_id: single };
  expectProblem(await client.mutate({ method: 'PATCH', url: `/v1/contracts/${id}`, payload }), 'not_found');
});

describe('refusals', () => {
  test('keep a record from being changed and deleted, alone and in bulk, but not by the server', async () => {
    const { id } = await made({ state: 'signed' });
    const { id: draft } = await made({});
    const url = `/v1/contracts/${id}`;
    const changed = await client.mutate({ method: 'PATCH', url, payload: { name: 'another' } });
    expectProblem(changed, 'permission_denied');
    expect(JSON.stringify(changed.body)).toContain('A signed contract stays as it is.');
    expectProblem(await client.mutate({ method: 'DELETE', url }), 'permission_denied');
    const bulk = `mutation ($ids: [ID!]!) { updateBulkContract(ids: $ids, input: { name: "bulk" }) { contracts { id } notUpdated { id code } } }`;
    const { data } = await client.graphql(bulk, { ids: [id, draft] });
    expect(data.updateBulkContract).toEqual({
      contracts: [{ id: draft }],
      notUpdated: [{ id, code: 'permission_denied' }],
    });
    const caller = systemCaller('test', owner.organization.id);
    await world.runtime.database.transact({ caller, requestId: newId() }, ({ data: records }) =>
      records.update(contract, id, { name: 'by the server' }),
    );
    expect((await client.get(url)).body.name).toBe('by the server');
  });

  test('compare the record as it is with the record as it would be', async () => {
    expectProblem(
      await client.post('/v1/contracts', { name: 'past', starts_on: '2026-02-01', ends_on: '2026-01-01' }),
      'invalid_input',
    );
    const { id } = await made({ ends_on: '2026-12-31' });
    const url = `/v1/contracts/${id}`;
    expectProblem(await client.mutate({ method: 'PATCH', url, payload: { ends_on: '2026-01-01' } }), 'invalid_input');
    const moved = { starts_on: '2025-01-01', ends_on: '2025-02-01' };
    expect((await client.mutate({ method: 'PATCH', url, payload: moved })).status).toBe(200);
  });
});

describe('sealed fields', () => {
  const url = (id: string) => `/v1/contracts/${id}`;
  const opened = async (id: string, of = id) => {
    const [row] = await asOwner<{ passphrase: string }>(world, 'select passphrase from contracts where id = $1', [of]);
    return openSealedValue(world.runtime.database.options, contract, { id, ...row }, 'passphrase');
  };

  test('are encrypted in the table, and no answer, history or event has them', async () => {
    const secret = `open sesame ${newId()}`;
    const { id } = await made({ passphrase: secret });
    const everything = await asOwner<{ found: string }>(
      world,
      `select (select to_jsonb(c)::text from contracts c where id = $1) || (select string_agg(to_jsonb(h)::text, '') from history h where entity_id = $1)
        || (select string_agg(to_jsonb(e)::text, '') from events e) as found`,
      [id],
    );
    expect(everything[0]?.found).toContain('"passphrase"');
    expect(everything[0]?.found).not.toContain(secret);
    const answers = [
      await client.get(url(id)),
      await client.mutate({ method: 'PATCH', url: url(id), payload: { name: 'with a secret' } }),
      await client.graphql(
        `{ contractHistories(where: { recordId: { eq: "${id}" } }) { edges { node { changedFields } } } }`,
      ),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('sesame');
    }
    expect(Object.keys(answers[0]?.body)).not.toContain('passphrase');
    const edges = answers[2]?.body.data.contractHistories.edges;
    expect(edges[0].node.changedFields).toContain('passphrase');
    expect(edges[1].node.changedFields).toEqual(['name']);
    expectGraphqlError(await client.graphql(`{ contract(id: "${id}") { passphrase } }`), 'invalid_input');
    await expect(opened(id)).resolves.toEqual({ secret, isCurrent: true });
  });

  test('open only in their own record, and with a configured key', async () => {
    const { id } = await made({ passphrase: 'first' });
    const { id: other } = await made({ passphrase: 'second' });
    await expect(opened(id, other)).rejects.toThrow('belongs to another record');
    const [row] = await asOwner<{ passphrase: string }>(world, 'select passphrase from contracts where id = $1', [id]);
    const { encryptionSecrets } = world.runtime.database.options;
    const rotated = { encryptionSecrets: () => `${'n'.repeat(32)},${encryptionSecrets()}` };
    await expect(openSealedValue(rotated, contract, { id, ...row }, 'passphrase')).resolves.toEqual({
      secret: 'first',
      isCurrent: false,
    });
    const replaced = { encryptionSecrets: () => 'n'.repeat(32) };
    await expect(openSealedValue(replaced, contract, { id, ...row }, 'passphrase')).rejects.toThrow(
      'add the earlier secret',
    );
  });

  test('are gone when their record is deleted, alone or with another', async () => {
    const { id: framework } = await made({ sort: 'framework', passphrase: 'first' });
    const { id: own } = await made({ framework_id: framework, passphrase: 'second' });
    expect((await client.mutate({ method: 'DELETE', url: url(own) })).status).toBe(204);
    expect((await client.mutate({ method: 'DELETE', url: url(framework) })).status).toBe(204);
    const rows = await asOwner<{ passphrase: string | null }>(
      world,
      'select passphrase from contracts where id = any($1) and deleted_at is not null',
      [[framework, own]],
    );
    expect(rows).toEqual([{ passphrase: null }, { passphrase: null }]);
    const { data } = await client.graphql(
      `{ contractHistories(where: { recordId: { eq: "${own}" }, operation: { eq: DELETED } }) { edges { node { changedFields } } } }`,
    );
    expect(data.contractHistories.edges).toEqual([{ node: { changedFields: [] } }]);
  });

  test('are changed and cleared in one record, not in many', async () => {
    const { id } = await made({ passphrase: 'first' });
    await client.mutate({ method: 'PATCH', url: url(id), payload: { passphrase: 'second' } });
    await expect(opened(id)).resolves.toMatchObject({ secret: 'second' });
    const bulk = `mutation { updateBulkContract(ids: ["${id}"], input: { passphrase: "third" }) { contracts { id } } }`;
    expectGraphqlError(await client.graphql(bulk), 'invalid_input');
    const cleared = await client.mutate({ method: 'PATCH', url: url(id), payload: { passphrase: null } });
    expect(cleared.status).toBe(200);
    const [row] = await asOwner<{ passphrase: string }>(world, 'select passphrase from contracts where id = $1', [id]);
    expect(row?.passphrase).toBeNull();
  });
});
