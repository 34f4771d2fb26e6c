import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordOf } from '#api/actions/kit/action-parts.ts';
import { Action, defineAction } from '#api/actions/kit/define-action.ts';
import { actionField } from '#api/graphql/derived/action-field.ts';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { idSchema } from '#api/http/request-schemas.ts';
import { actionRoute } from '#api/rest/records/action-route.ts';
import { group } from '#entities/index.ts';
import { refusesChanges } from '#entities/kit/model/behaviours/refuses-changes.ts';
import { actorOf } from '#entities/kit/model/caller.ts';
import { defineEntityModule } from '#entities/kit/model/define.ts';
import { flag, integer, reference, text } from '#entities/kit/model/fields.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { ChangeBehaviour } from '#entities/kit/write/change-behaviour.ts';
import { insertRows } from '#entities/kit/write/insert-rows.ts';
import { internalRecord } from '#entities/presets/internal-record.ts';
import { organizationRecord } from '#entities/presets/organization-record.ts';
import { asOwner } from '../kit/as-owner.ts';
import { ended, startImport } from '../kit/events/started-transfers.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { registryWith } from '../kit/records/synthetic-kinds.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

const message = 'waits for an approval';

/** Holds higher values of a field, and asks for the approval of each. */
function approved<const Name extends string>(gate: {
  readonly field: Name;
  readonly above: number;
}): ChangeBehaviour<Name> {
  const { field, above } = gate;
  return {
    fields: [field],
    hold: (_work, _caller, { changes }) =>
      new Map(
        changes
          .filter(({ changed }) => Number(changed[field]) > above)
          .map(({ row }) => [row['id'] as string, [{ field, message }]]),
      ),
    recordHeld: async (work, caller, { changes }) => {
      const module = work.registry.byKind('approval');
      const wanted = changes.map(({ row, changed }) => ({
        organizationId: row['organizationId'],
        budgetId: row['id'],
        amount: changed[field],
      }));
      const stamp = { at: work.clock.now(), actor: actorOf(caller) };
      await work.changeRows('system', module, (session) => insertRows(session, module, wanted, stamp));
    },
  };
}

const budget = defineEntityModule({
  kind: 'budget',
  table: 'budgets',
  description: 'Budget.',
  fields: {
    name: text('Name.', { max: 100, exposed: 'read-write', lists: ['filter', 'order'] }),
    amount: integer('Amount.', { min: 0, max: 1_000_000, default: 0, exposed: 'read-write' }),
    isLarge: flag('Whether the amount is large.', { default: false, exposed: 'read' }),
    isClosed: flag('Whether it is closed.', { default: false, exposed: 'read-write' }),
  },
  tenancy: 'organization',
  policy: organizationRecord(),
  behaviours: [
    approved({ field: 'amount', above: 1_000 }),
    refusesChanges([
      {
        on: ['edit'],
        refuseIf: 'given.is_closed and given.amount = 0',
        field: 'isClosed',
        code: 'rule_violated',
        message: 'An empty budget stays open.',
      },
    ]),
  ],
  mutate: ['create', 'update', 'delete'],
  events: ['created', 'updated', 'deleted'],
  hooks: { derivedValues: ({ amount }) => (amount === undefined ? {} : { isLarge: amount > 500 }) },
});

const approval = defineEntityModule({
  kind: 'approval',
  table: 'approvals',
  description: 'Wanted amount of a budget.',
  fields: {
    budgetId: reference('budget', 'Budget.', { immutable: true, onDelete: 'cascade' }),
    amount: integer('Amount.', { min: 0, max: 1_000_000, immutable: true }),
  },
  tenancy: 'organization',
  policy: internalRecord(),
  events: ['created'],
});

const kinds = registryWith([budget, approval]);

const raiseBudget = defineAction({
  name: 'raiseBudget',
  url: '/v1/budgets/:id/raise',
  tag: 'Budgets',
  summary: 'Raise a budget',
  description: 'Names the budget anew, and raises its amount.',
  input: { id: idSchema('Id of the budget.') },
  answer: { budget: recordOf(budget) },
  errors: ['not_found'],
  run: async ({ unit }, { id }) => {
    await unit.data.update(budget, id, { name: 'raised', amount: 5_000 });
    return { budget: id };
  },
});

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ registry: kinds, routes: [actionRoute(raiseBudget)], worker: ['workflows', 'exports'] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

async function made(values: object = {}): Promise<string> {
  const answer = await client.post('/v1/budgets', { name: 'first', amount: 10, ...values });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id as string;
}

const patch = (id: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/budgets/${id}`, payload });

async function wanted(id: string): Promise<number[]> {
  const rows = await asOwner<{ amount: number }>(world, 'select amount from approvals where budget_id = $1', [id]);
  return rows.map(({ amount }) => amount);
}

describe('a held field', () => {
  test('keeps its value, and the others are written', async () => {
    const id = await made();
    const { status, body } = await patch(id, { name: 'second', amount: 5_000 });
    expect([status, body.name, body.amount, body.is_large, body.record_version]).toEqual([200, 'second', 10, false, 2]);
    expect(body.held).toEqual([{ field: 'amount', message }]);
    expect(await wanted(id)).toEqual([5_000]);
    const history = await client.graphql(
      `{ budgetHistories(where: { recordId: { eq: "${id}" }, operation: { eq: UPDATED } }) { edges { node { changedFields } } } }`,
    );
    expect(history.data.budgetHistories.edges).toEqual([{ node: { changedFields: ['name'] } }]);
  });

  test('leaves a record without other changes unchanged', async () => {
    const id = await made();
    const { body } = await patch(id, { amount: 5_000, name: 'first' });
    expect([body.amount, body.record_version, body.held]).toEqual([10, 1, [{ field: 'amount', message }]]);
    const { body: lower } = await patch(id, { amount: 600 });
    expect([lower.amount, lower.is_large, lower.held]).toEqual([600, true, []]);
  });

  test('is named by GraphQL', async () => {
    const id = await made();
    const mutation = `mutation { updateBudget(id: "${id}", input: { name: "second", amount: 5000 }) {
      budget { name amount } held { id field message } } }`;
    expect((await client.graphql(mutation)).data.updateBudget).toEqual({
      budget: { name: 'second', amount: 10 },
      held: [{ id, field: 'amount', message }],
    });
  });

  test('is named for each record of a bulk change that has it', async () => {
    const [one, other, refused] = [await made(), await made({ amount: 5_000 }), await made({ amount: 0 })];
    const mutation = `mutation ($ids: [ID!]!) { updateBulkBudget(ids: $ids, input: { name: "bulk", amount: 5000, isClosed: true }) {
      budgets { id name amount isClosed } notUpdated { id code } held { id field } } }`;
    const { data } = await client.graphql(mutation, { ids: [one, other, refused] });
    expect(data.updateBulkBudget).toEqual({
      budgets: [
        { id: one, name: 'bulk', amount: 10, isClosed: true },
        { id: other, name: 'bulk', amount: 5_000, isClosed: true },
      ],
      // Without its amount, the change leaves an empty budget closed.
      notUpdated: [{ id: refused, code: 'rule_violated' }],
      held: [{ id: one, field: 'amount' }],
    });
    expect([await wanted(one), await wanted(other), await wanted(refused)]).toEqual([[5_000], [], []]);
  });

  test('is named for each row of a CSV document that has it', async () => {
    const [one, other] = [await made(), await made()];
    const mutation = `mutation ($csv: String!) { updateBulkCSVBudget(csv: $csv) {
      budgets { name amount } updatedIds held { id field message } } }`;
    const { data } = await client.graphql(mutation, { csv: `id,name,amount\n${one},a,5000\n${other},b,20\n` });
    expect(data.updateBulkCSVBudget).toEqual({
      budgets: [
        { name: 'a', amount: 10 },
        { name: 'b', amount: 20 },
      ],
      updatedIds: [one, other],
      held: [{ id: one, field: 'amount', message }],
    });
  });

  test('is named by an import with its line', async () => {
    const [one, other] = [await made(), await made()];
    const document = `id,name,amount\n${other},b,20\n${one},a,5000\n`;
    const begun = await startImport(world, owner, client, document, { record_kind: 'budget', action: 'update' });
    expect(await ended(client, 'imports', begun.id)).toMatchObject({
      status: 'completed',
      done_rows: 2,
      problems: [`line 3: amount is held: ${message}`],
    });
    expect((await client.get(`/v1/budgets/${one}`)).body).toMatchObject({ name: 'a', amount: 10 });
  });

  test('is named by an action that changes the record', async () => {
    const id = await made();
    const { status, body } = await client.post(`/v1/budgets/${id}/raise`);
    expect([status, body.name, body.amount, body.held]).toEqual([200, 'raised', 10, [{ field: 'amount', message }]]);
    const { schemas } = (await client.get('/openapi.json')).body.components;
    expect(schemas.RaiseBudgetResult.properties).toHaveProperty('held');
    const fields = (action: Action) => {
      const type = deriveSchema(kinds, [actionField(action)]).getType('RaiseBudgetPayload');
      return (type as GraphQLObjectType<unknown, object>).getFields();
    };
    const heldOf = (ids: readonly string[]) => ids.map((one) => ({ id: one, field: 'amount' }));
    const { held } = fields(raiseBudget);
    expect(String(held?.type)).toBe('[HeldField!]!');
    expect(held?.resolve?.({ budget: id }, {}, { unit: { data: { heldOf } } }, {} as GraphQLResolveInfo)).toEqual([
      { id, field: 'amount' },
    ]);
    const { definition } = raiseBudget;
    expect(fields(new Action({ ...definition, answer: { group: recordOf(group) } }))).not.toHaveProperty('held');
  });

  test('is not held in a change that is refused', async () => {
    const id = await made({ amount: 0 });
    expectProblem(await patch(id, { amount: 5_000, is_closed: true }), 'rule_violated');
    expectProblem(await patch(id, { is_closed: true }), 'rule_violated');
    expectProblem(await patch(newId(), { amount: 5_000 }), 'not_found');
    expect(await wanted(id)).toEqual([]);
  });

  test('is described for kinds that hold fields, and for no others', async () => {
    const fieldsOf = async (type: string) => {
      const { data } = await client.graphql(`{ __type(name: "${type}") { fields { name } } }`);
      return data.__type.fields.map(({ name }: { name: string }) => name);
    };
    expect(await fieldsOf('UpdateBudgetPayload')).toContain('held');
    expect(await fieldsOf('UpdateTaskPayload')).toContain('held');
    expect(await fieldsOf('UpdateGroupPayload')).not.toContain('held');
    const { body } = await client.get('/openapi.json');
    const answer = (path: string) => JSON.stringify(body.paths[path].patch.responses[200].content);
    expect(answer('/v1/budgets/{id}')).toContain('ChangedBudget');
    expect(answer('/v1/groups/{id}')).not.toContain('Changed');
  });
});
