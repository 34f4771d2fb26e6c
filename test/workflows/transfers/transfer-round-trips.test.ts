import { Check } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listFieldsOf } from '#entities/kit/model/behaviour.ts';
import { registry } from '#entities/index.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { changeableFields, isRequired, writableFields, type NamedField } from '#entities/kit/model/exposure.ts';
import { listedFields, listedKinds } from '#entities/kit/read/described-list.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import { asPerson } from '../../kit/as-person.ts';
import { isInKey } from '../../kit/records/bulk-fixtures.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { sampleValue } from '../../kit/records/sample-field-value.ts';
import { documentOf, ended, startExport, startImport } from '../../kit/events/started-transfers.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

type Values = Record<string, unknown>;

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: ['workflows', 'exports'] });
});
afterAll(() => world.close());

/** Kinds that people import with files: nobody is there to prove their identity, or for a check of an e-mail address. */
const importable = listedKinds(registry).filter(
  ({ mutate = [], needsProof, fields, policy }) =>
    (mutate.includes('create') || mutate.includes('update')) &&
    !needsProof &&
    (!mutate.includes('create') || policy?.create.some(({ when }) => when.is !== 'system' && when.is !== 'scope')) &&
    !Object.values(fields).some(({ isChecked }) => isChecked),
);

const texts = ['=1+1', '+49 30, "1"', "'", String.raw`\N`, "''=x", ' a;b ', 'a,\r\n"b"\n'];
const items = ['null', ' a', 'x;y', '"q", r', '=1', '[', String.raw`\N`, ''];

/** Values that are hard to write into a cell, as far as the field takes them; the last variant empties what can be empty. */
function hardValue(module: EntityModule, [name, field]: NamedField, variant: number): unknown {
  const { type, schema, values = [], optional } = field;
  const {
    format,
    pattern,
    minimum = 0,
    maximum = 0,
  } = schema as { format?: string; pattern?: string; minimum?: number; maximum?: number };
  const sample = () => sampleValue(field, world.clock.now());
  if (variant === 2 && type === 'textList') return [];
  if (variant === 2 && optional) return null;
  if (name === listFieldsOf(module)?.filter)
    return { title: { in: texts }, or: [{ dueAt: { isNull: true } }, { not: { status: { eq: 'open' } } }] };
  switch (type) {
    case 'text': {
      if (field.naming || format || pattern) return sample();
      const taken = texts.filter((text) => Check(schema, text) && !(field.isOneLine && /[\r\n]/.test(text)));
      return taken[(variant * 3 + Object.keys(schema).length) % taken.length] ?? sample();
    }
    case 'textList': {
      const taken = items.filter((item) => Check(schema, [item]));
      return field.naming || taken.length === 0 ? sample() : variant === 0 ? taken : taken.slice(0, 1);
    }
    case 'json':
      // One with examples takes only what is like them.
      if ((schema as { examples?: unknown }).examples) return sample();
      return { '=1': [' "x",\n', null, 1.5, { '': [] }] };
    case 'choice': {
      const moment = Object.values(module.fields).find(({ momentOf }) => momentOf?.field === name)?.momentOf;
      return variant === 1 && moment ? moment.is : values[variant % values.length];
    }
    case 'integer':
      return variant === 0 ? minimum : maximum;
    case 'boolean':
      return variant % 2 === 0;
    case 'timestamp':
      if (field.momentOf && variant === 0) return null;
      return new Date(Date.UTC(field.momentOf ? 2021 : 2031, 1, 28, 23, 59, 59, 900 + variant));
    case 'date':
      return '2032-02-29';
    case 'decimal':
    case 'reference':
    case 'file':
      return sample();
    default:
      throw new Error(`unknown field type ${String(type satisfies never)}`);
  }
}

interface Case {
  readonly module: EntityModule;
  readonly person: Person;
  readonly client: TestClient;
  readonly ids: readonly string[];
  /** Fields in which two records or more could not have a hard value. */
  readonly left: ReadonlySet<string>;
}

const inside = <T>({ person }: Pick<Case, 'person'>, work: (data: DataClient) => Promise<T>) =>
  asPerson(world, person, person.organization.id, work);

/** Tries with all values, then without those that are refused. */
async function accepted<T>(
  values: Values,
  base: Values,
  left: Set<string>,
  tries: (values: Values) => Promise<T>,
): Promise<T> {
  const { ...all } = { ...base, ...values };
  for (;;) {
    try {
      return await tries(all);
    } catch (error) {
      if (!isAppError(error)) throw error;
      const names = (error.details.fields ?? []).map(({ path }) => path.split('/')[1] ?? '');
      const refused = names.filter((name) => Object.hasOwn(values, name) && all[name] !== base[name]);
      if (refused.length === 0) throw error;
      for (const name of refused) {
        left.add(name);
        if (Object.hasOwn(base, name)) all[name] = base[name];
        else delete all[name];
      }
    }
  }
}

/** Values of a variant for these fields: references to other records where they can be left out, too. */
async function variantOf(
  fixtures: AuthorizationFixtures,
  person: Person,
  module: EntityModule,
  fields: readonly NamedField[],
  variant: number,
): Promise<Values> {
  const values: Values = {};
  for (const [name, field] of fields) {
    const { type, target, optional, announcesLeaving } = field;
    if (type === 'file' || field.anyOf) continue;
    if (isInKey(module, name)) {
      // Distinct, as the key needs it.
      if (name === 'externalId') values[name] = `=${variant}`;
      continue;
    }
    if (type !== 'reference') values[name] = hardValue(module, [name, field], variant);
    else if (optional && variant === 2) values[name] = null;
    else if (optional && target === 'user') values[name] = person.user.id;
    else if (optional && target !== undefined) {
      const { id } = await fixtures.record(target, 'any');
      values[name] = id;
      // A discussion is deleted with its last comment: another one keeps it.
      if (announcesLeaving) {
        const other = { ...(await fixtures.creation(module.kind)), [name]: id };
        await fixtures.asSystem((data) => data.create(module, other));
      }
    }
  }
  return values;
}

/** Up to three records of a kind with hard values, in an organization of their own. */
async function made(module: EntityModule): Promise<Case> {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const fixtures = new AuthorizationFixtures(world, person);
  const own = { person };
  const isCreated = module.mutate?.includes('create') ?? false;
  const fields = isCreated ? writableFields(module) : changeableFields(module);
  const left = new Map<string, number>();
  const ids: string[] = [];
  for (const variant of [0, 1, 2]) {
    const without = new Set<string>();
    const values = await variantOf(fixtures, person, module, fields, variant);
    const names = new Set(writableFields(module).map(([name]) => name));
    if (isCreated) {
      const base = Object.fromEntries(
        Object.entries(await fixtures.creation(module.kind)).filter(([name]) => names.has(name)),
      );
      ids.push(
        await accepted(values, base, without, (input) =>
          inside(own, async (data) => (await data.create(module, input)).id),
        ),
      );
    } else {
      const isOwn = module.policy?.view.some(({ when }) => when.is === 'self');
      const { id } = await fixtures.record(module.kind, isOwn ? 'themselves' : 'any', person.user.id);
      await accepted(values, {}, without, (input) => inside(own, (data) => data.update(module, id, input)));
      ids.push(id);
    }
    for (const name of without) left.set(name, (left.get(name) ?? 0) + 1);
  }
  const rows = await rowsOf({ module, person, ids });
  return {
    module,
    person,
    client,
    ids: rows.map(({ id }) => id as string),
    left: new Set([...left].flatMap(([name, count]) => (count > 1 ? [name] : []))),
  };
}

/** The values of the records that an import can set, in the order of their creation. */
function rowsOf(own: Pick<Case, 'module' | 'person' | 'ids'>): Promise<Values[]> {
  const names = ['id', ...writableFields(own.module).map(([name]) => name)].filter((name) =>
    listedFields(own.module).includes(name),
  );
  return inside(own, async (data) => {
    const rows: readonly Values[] = await data.find(own.module, {
      where: { id: { in: [...new Set(own.ids)] } },
      limit: 10,
    });
    return rows
      .map((row) => Object.fromEntries(names.map((name) => [name, row[name]])))
      .toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
  });
}

async function exported({ module, client, ids }: Case): Promise<string> {
  const { id } = await startExport(client, { record_kind: module.kind, filters: { id: { in: ids } }, order_by: [] });
  const done = await ended(client, 'exports', id);
  expect(done, `${module.kind}: ${JSON.stringify(done)}`).toMatchObject({ status: 'completed', done_rows: ids.length });
  return documentOf(client, done);
}

async function imported(
  { module, person, client, ids }: Case,
  document: string,
  action: 'create' | 'update',
): Promise<void> {
  const { id } = await startImport(world, person, client, document, { record_kind: module.kind, action });
  const done = await ended(client, 'imports', id);
  expect(done, `${module.kind}, ${action}: ${JSON.stringify(done)}\n${document}`).toMatchObject({
    status: 'completed',
    done_rows: ids.length,
  });
}

/** Gives changeable fields that have a value another one, so that an update has to bring the value back. */
async function scramble(own: Case): Promise<void> {
  for (const row of await rowsOf(own)) {
    const fields = changeableFields(own.module).filter(
      ([name, { type, target }]) =>
        !isInKey(own.module, name) &&
        type !== 'file' &&
        target === undefined &&
        row[name] !== null &&
        row[name] !== undefined &&
        !(Array.isArray(row[name]) && row[name].length === 0) &&
        row[name] !== '',
    );
    const others = Object.fromEntries(fields.map(([name, field]) => [name, sampleValue(field, world.clock.now())]));
    await accepted(others, row, new Set(), async ({ ...values }) => {
      const changed = Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(others, name)));
      await inside(own, (data) => data.update(own.module, row['id'] as string, changed));
    });
  }
}

const plain = ({ id: _id, ...values }: Values): string => JSON.stringify(values);

async function roundTrip(module: EntityModule): Promise<{ own: Case; differences: object[] }> {
  const own = await made(module);
  const differences: object[] = [];
  const before = await rowsOf(own);
  const document = await exported(own);
  const { mutate = [] } = module;
  if (mutate.includes('update')) {
    await scramble(own);
    await imported(own, document, 'update');
    const after = await rowsOf(own);
    if (JSON.stringify(after) !== JSON.stringify(before))
      differences.push({ kind: module.kind, action: 'update', before, after });
  }
  const lacksColumn = writableFields(module).some(
    ([name, field]) => isRequired(field) && !listedFields(module).includes(name),
  );
  if (mutate.includes('create') && !lacksColumn) {
    await new AuthorizationFixtures(world, own.person).asSystem(async (data) => {
      for (const id of own.ids) await data.remove(module, id);
    });
    const known = await inside(own, (data) => data.find(module, { limit: 100 }));
    await imported(own, document, 'create');
    const all: readonly Values[] = await inside(own, (data) => data.find(module, { limit: 100 }));
    const ids = all.map(({ id }) => id as string).filter((id) => !known.some((row) => row.id === id));
    const after = (await rowsOf({ ...own, ids })).map(plain).toSorted();
    const wanted = before.map(plain).toSorted();
    if (JSON.stringify(after) !== JSON.stringify(wanted))
      differences.push({ kind: module.kind, action: 'create', before: wanted, after });
  }
  return { own, differences };
}

describe('an export is imported', () => {
  test.concurrent.each(importable.map((module) => [module.kind, module] as const))(
    'with every value of a %s',
    async (_kind, module) => {
      const { own, differences } = await roundTrip(module);
      expect(differences).toEqual([]);
      expect([...own.left].filter((name) => !module.fields[name]?.only)).toEqual([]);
    },
  );
});
