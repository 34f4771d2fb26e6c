import { execute, GraphQLNonNull, GraphQLID, GraphQLString, parse, type GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GraphqlContext } from '#api/graphql/graphql-context.ts';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { membership, registry, task } from '#entities/index.ts';
import { anonymousCaller, callerOf, roles, type Caller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { scopeRelations } from '#entities/kit/model/policy.ts';
import { refuseDisabledModule } from '#entities/kit/model/module-gate.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { pluralOf } from '#entities/kit/read/relations.ts';
import { callerNow } from '../kit/caller-now.ts';
import { sampleOf } from '../kit/depth.ts';
import { recordTried } from '../kit/tried.ts';
import { asOwner } from '../kit/as-owner.ts';
import { idPositions, type IdPosition, type OwnIds } from '../kit/records/id-positions.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { readyUpload } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

/**
 * T-50: every kind, operation and place of an id, for every kind of caller: what belongs to another organization is never read
 * or written, and the answer is the same as for what does not exist. The places are taken from the schema.
 */
let world: World;
let victim: Person;
let attackers: ReadonlyMap<string, Caller>;
let own: OwnIds;
let theirs: OwnIds;
/** Whatever only the victim's records hold. */
let secrets: ReadonlySet<string>;

const schema = productSchema();
const exposed = registry.modules.filter(({ expose }) => Object.keys(expose).length > 0);

beforeAll(async () => {
  world = await openWorld();
  victim = await buildPerson(world);
  theirs = await furnished(victim);
  const owner = await buildPerson(world);
  own = await furnished(owner);
  const { organization } = owner;
  const callers = new Map<string, Caller>();
  for (const role of roles)
    callers.set(
      role,
      await callerOfPerson(role === 'owner' ? owner : await buildPerson(world, { organization, role })),
    );
  const leaver = await buildPerson(world, { organization: victim.organization, role: 'admin' });
  callers.set('outsider', await callerOfPerson(leaver));
  await leave(leaver);
  callers.set('outsider', await callerOfPerson(leaver));
  const relations = registry.modules.flatMap(({ kind }) => scopeRelations({ kind, operation: 'remove' }));
  callers.set(
    'service token',
    callerOf({
      kind: 'api_token',
      subjectId: newId(),
      organizationId: organization.id,
      relations,
      productModules,
    }),
  );
  callers.set('person without organization', callerOf({ kind: 'user', subjectId: owner.user.id, productModules }));
  callers.set('anonymous', { ...anonymousCaller, productModules });
  attackers = callers;
  const { database } = world.runtime;
  for (const [name, caller] of callers) {
    if (caller.subjectId !== null) uploads.set(name, await readyUpload(database, caller));
    foreignUploads.set(name, await uploadsOfOthers(caller, await callerOfPerson(owner)));
  }
  // Managed groups have the same names everywhere.
  secrets = (await valuesOf(victim.organization.id)).difference(await valuesOf(organization.id));
});
afterAll(() => world.close());

/** A record of each kind in the organization of an owner. */
async function furnished(person: Person): Promise<OwnIds> {
  const fixtures = new AuthorizationFixtures(world, person);
  const ids = new Map<string, string>();
  for (const { kind } of registry.modules) {
    const situation = kind === 'group' ? 'public' : 'any';
    ids.set(kind, (await fixtures.record(kind, situation)).id);
  }
  return ids;
}

/** An upload of each caller. */
const uploads = new Map<string, string>();
/** For each caller uploads that it cannot use. */
const foreignUploads = new Map<string, readonly string[]>();

/** Of somebody else, in this and in the other organization; of the caller itself in the other one; and one that has expired. */
async function uploadsOfOthers(caller: Caller, colleague: Caller): Promise<string[]> {
  const { database } = world.runtime;
  const of = [await callerOfPerson(victim)];
  if (caller.subjectId !== colleague.subjectId) of.push(colleague);
  const elsewhere = { ...caller, organizationId: victim.organization.id };
  if (caller.subjectId !== null && caller.organizationId !== elsewhere.organizationId) of.push(elsewhere);
  const ids = await Promise.all(of.map((each) => readyUpload(database, each)));
  const past = new Date(world.clock.now().getTime() - 1_000);
  if (caller.subjectId !== null) ids.push(await readyUpload(database, caller, { at: new Date(0), expiresAt: past }));
  return ids;
}

async function leave({ user }: Person): Promise<void> {
  await new AuthorizationFixtures(world, victim).asSystem(async (data) => {
    const held = await data.findOne(membership, { userId: { eq: user.id } });
    await data.remove(membership, held?.id ?? '');
  });
}

function callerOfPerson({ user, organization }: Person): Promise<Caller> {
  return callerNow(world.runtime, user.id, organization.id);
}

/** Ids, short names and texts of the records of an organization. */
async function valuesOf(organizationId: string): Promise<Set<string>> {
  const found = new Set<string>([organizationId]);
  for (const { tenancy, table } of registry.modules) {
    if (tenancy !== 'organization') continue;
    const rows = await asOwner(world, `select * from ${table} where organization_id = $1`, [organizationId]);
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && /(?:^id|display_id|name|title|recipient)$/.test(column) && value.length > 8)
          found.add(value);
  }
  return found;
}

/** Runs an operation as the product does, and takes it back. */
async function answer(of: GraphQLSchema, caller: Caller, { document }: IdPosition, variables: object): Promise<string> {
  const unit = world.runtime.database.unitOfWork({ caller, requestId: newId() });
  try {
    const claims = caller.kind === 'user' ? { userId: caller.subjectId, sessionId: newId() } : undefined;
    const contextValue = {
      services: { config: world.config },
      unit,
      fastify: { request: { core: { claims } } },
    } as unknown as GraphqlContext;
    const result = await execute({
      schema: of,
      document: documentOf(document),
      contextValue,
      variableValues: { ...variables },
    });
    const errors = (result.errors ?? []).map(({ message, originalError }) => ({
      message,
      code: (originalError as { code?: unknown } | undefined)?.code,
    }));
    return JSON.stringify(errors.length > 0 ? { errors } : result.data);
  } finally {
    await unit.rollback();
  }
}

const parsed = new Map<string, ReturnType<typeof parse>>();
function documentOf(text: string): ReturnType<typeof parse> {
  const known = parsed.get(text) ?? parse(text);
  parsed.set(text, known);
  return known;
}

/** What is wrong with the answers at one place; nothing when all is well. */
async function leaksAt(
  of: GraphQLSchema,
  name: string,
  caller: Caller,
  position: IdPosition,
  ofAnyKind: readonly string[] = [...theirs.values()],
): Promise<string[]> {
  const leaks: string[] = [];
  // Every answer is taken back, and with it that a record has taken the upload.
  const right = new Map([...own, ['upload', uploads.get(name) ?? newId()]]);
  for (const id of await foreignValues(name, position, ofAnyKind)) {
    const both = async () => {
      const missing = missingValue(position, id);
      const ofTheirs = await answer(of, caller, position, position.variables(id, right));
      const ofMissing = await answer(of, caller, position, position.variables(missing, right));
      return { plain: ofTheirs.replaceAll(id, 'ID'), ofMissing: ofMissing.replaceAll(missing, 'ID') };
    };
    const where = `${name}: ${position.field} ${position.path}`;
    const first = await both();
    // A server that is busy may refuse one of two requests. What tells that a record exists tells it each time.
    const { plain, ofMissing } = first.plain === first.ofMissing ? first : await both();
    if (plain !== ofMissing) leaks.push(`${where} tells: ${plain} and ${ofMissing}`);
    for (const secret of secrets) if (plain.includes(secret)) leaks.push(`${where} shows ${secret}: ${plain}`);
    // An answer that comes before anybody looked for the record says nothing. What a cell of a CSV document names is looked for, and
    // the answer is a problem of its line.
    const isLookedFor = position.path.startsWith('csv.') && /names no |There is no /.test(plain);
    if (/"code":"(?:internal|invalid_input|limit_exceeded|module_not_enabled)"|undefined/.test(plain) && !isLookedFor)
      leaks.push(`${where} breaks: ${plain}`);
  }
  return leaks;
}

/**
 * What belongs to nobody, for the same place. A search finds one's own records whose names are similar to an id, which begins with its
 * time as theirs do; an id that differs in one letter finds the same ones.
 */
function missingValue({ takes }: IdPosition, foreign: string): string {
  if (takes === 'cursor') return foreign;
  const other = newId();
  return takes === 'text' ? foreign.slice(0, -1) + (other.replaceAll(foreign.slice(-1), '').at(-1) ?? '0') : other;
}

/** What stands in a place that belongs to others. */
async function foreignValues(
  name: string,
  position: IdPosition,
  ofAnyKind: readonly string[],
): Promise<readonly string[]> {
  if (position.takes === 'cursor') return [await cursorOf(position)];
  if (position.takes === 'upload') return foreignUploads.get(name) ?? [];
  return position.module ? [theirs.get(position.module.kind) as string] : ofAnyKind;
}

const cursors = new Map<string, string>();

/** A cursor of the victim's own list. */
async function cursorOf({ field }: IdPosition): Promise<string> {
  const known = cursors.get(field);
  if (known !== undefined) return known;
  const caller = await callerOfPerson(victim);
  const document = `{ ${field} (first: 1) { edges { cursor } } }`;
  const text = await answer(schema, caller, { document } as IdPosition, {}).catch(() => '');
  const [, cursor = newId()] = /"cursor":"([^"]+)"/.exec(text) ?? [];
  cursors.set(field, cursor);
  return cursor;
}

// No set of records takes a file, whosever it is.
const positions = idPositions(schema, registry).filter(
  ({ takes, field }) => takes !== 'upload' || !field.startsWith('updateBulk'),
);
const isTried = (kind: string) => triedKinds(registry.modules).some((module) => module.kind === kind);
const triedPositions = positions.filter(({ module }) => !module || isTried(module.kind));
const names = [...roles, 'outsider', 'service token', 'person without organization', 'anonymous'] as const;
/** Ids of many kinds are tried there. */
const isOfAnyKind = ({ module, takes }: IdPosition) => !module && takes !== 'upload';
/**
 * Of everything that root fields do one position of every sort; ids of every kind that are read and that are written; and with every
 * caller everything that is done with records, every sort of their ids, and ids that may be of any kind. Kinds share the code of what is
 * done with them.
 */
const tried = Map.groupBy(
  sampleOf(
    'tenant isolation',
    names.flatMap((name) => triedPositions.map((position) => ({ name, position }))),
    {
      by: [
        ({ position }) => `${position.family} ${position.takes}`,
        ({ position }) => `${position.module?.kind ?? ''} ${position.operation}`,
        ({ name, position }) => `${name} ${isOfAnyKind(position) ? '' : position.family}`,
        ({ name, position }) => (isOfAnyKind(position) ? '' : `${name} ${position.operation} ${position.takes}`),
      ],
    },
  ),
  ({ name }) => name,
);

const placeOf = (name: string, { field, path }: IdPosition) => `${name} ${field} ${path}`;
/** Kinds of the ids that stand where those of any kind may stand: every kind is tried, and some at each of these places. */
const kindsAt = Map.groupBy(
  sampleOf(
    'ids of any kind',
    [...tried.values()]
      .flat()
      .filter(({ position }) => isOfAnyKind(position) && position.takes !== 'cursor')
      .flatMap(({ name, position }) => registry.modules.map(({ kind }) => ({ place: placeOf(name, position), kind }))),
    { by: [({ kind }) => kind, ({ place }) => place], atLeast: 2 },
  ),
  ({ place }) => place,
);

describe('T-50: through GraphQL no id of another organization is read or written', () => {
  test.each(names)('%s', async (name) => {
    const caller = attackers.get(name) as Caller;
    const leaks: string[] = [];
    const places = tried.get(name) ?? [];
    for (const { position } of places) {
      const ids = (kindsAt.get(placeOf(name, position)) ?? []).map(({ kind }) => theirs.get(kind) as string);
      leaks.push(...(await leaksAt(schema, name, caller, position, ids)));
    }
    recordTried('id positions with a caller', places.length, positions.length);
    expect(places).not.toEqual([]);
    expect(leaks).toEqual([]);
  });

  test('every exposed kind and each of its operations has id positions', () => {
    const fields = new Set(positions.map(({ field }) => field));
    for (const name of ['node', 'nodes', 'search', 'explainAccess']) expect(fields).toContain(name);
    const missing = exposed.flatMap((module) => {
      const { kind, typeName, mutate = [], search = [], fields: own } = module;
      const hasReferences = Object.keys(module.expose).some(
        (name) => own[name]?.target !== undefined && module.expose[name] !== 'read',
      );
      const wanted = [
        kind,
        pluralOf(module),
        `${kind}Histories`,
        ...(search.length > 0 ? [`${kind}Search`] : []),
        ...(mutate.includes('update') ? [`update${typeName}`, `updateBulk${typeName}`] : []),
        ...(mutate.includes('delete') ? [`delete${typeName}`, `deleteBulk${typeName}`] : []),
        ...(mutate.includes('create') && hasReferences
          ? [`create${typeName}`, `createBulk${typeName}`, `createBulkCSV${typeName}`]
          : []),
      ];
      return wanted.filter((name) => !fields.has(name));
    });
    expect(missing).toEqual([]);
    const anywhere = new Set([...kindsAt.values()].flat().map(({ kind }) => kind));
    expect(registry.modules.filter(({ kind }) => !anywhere.has(kind))).toEqual([]);
    expect([...new Set(positions.flatMap(({ takes, field }) => (takes === 'upload' ? [field] : [])))]).toEqual(
      expect.arrayContaining([
        'createFile',
        'createBulkFile',
        'createBulkCSVFile',
        'updateFile',
        'createTask',
        'updateUser',
      ]),
    );
  });

  test('finds a planted leak', async () => {
    const leaky = deriveSchema(registry, [
      {
        on: 'Query',
        name: 'leakyTask',
        build: () => ({
          type: GraphQLString,
          args: { id: { type: new GraphQLNonNull(GraphQLID) } },
          resolve: async (_source, { id }: { id: string }, { unit }) =>
            (await unit.data.privileged('planted').findOne(task, { id: { eq: id } }))?.title ?? null,
        }),
      },
    ]);
    const planted = idPositions(leaky, registry).filter(({ field }) => field === 'leakyTask');
    expect(planted).not.toEqual([]);
    const found = await Promise.all(
      planted.map((one) => leaksAt(leaky, 'member', attackers.get('member') as Caller, one)),
    );
    expect(found.flat()).not.toEqual([]);
  });

  test('an empty answer for a kind that the caller cannot see is not taken for a refusal', async () => {
    const gated = deriveSchema(registry, [
      {
        on: 'Query',
        name: 'gatedTask',
        build: () => ({
          type: GraphQLString,
          args: { id: { type: new GraphQLNonNull(GraphQLID) } },
          resolve: () => refuseDisabledModule({ ...task, productModules: ['registry'] }, anonymousCaller),
        }),
      },
    ]);
    const position = idPositions(gated, registry).find(({ field }) => field === 'gatedTask');
    const found = await leaksAt(gated, 'member', attackers.get('member') as Caller, position as IdPosition);
    expect(found.join('\n')).toContain('member: gatedTask id breaks');
  });
});

test('T-50: through REST no id of another organization is read or written', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const before = await asOwner(world, 'select count(*) from history', []);
  const routes = exposed
    .filter(({ kind }) => isTried(kind))
    .map((module) => ({ path: `/v1/${module.table.replaceAll('_', '-')}`, kind: module.kind }));
  const leaks: string[] = [];
  for (const { path, kind } of routes) {
    for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
      const ask = async (id: string) => {
        const payload = method === 'PATCH' ? { payload: {} } : {};
        const { status, body } = await client.mutate({ method, url: `${path}/${id}`, ...payload });
        return JSON.stringify({ status, code: body.code, detail: body.detail }).replaceAll(id, 'ID');
      };
      const [ofTheirs, ofMissing] = [await ask(theirs.get(kind) as string), await ask(newId())];
      if (ofTheirs !== ofMissing || ofTheirs.includes('"status":2') || ofTheirs.includes('module_not_enabled'))
        leaks.push(`${method} ${path}: ${ofTheirs} ${ofMissing}`);
    }
    const list = await client.get(`${path}?count=true`);
    for (const secret of secrets)
      if (JSON.stringify(list.body).includes(secret)) leaks.push(`GET ${path} shows ${secret}`);
  }
  expect(leaks).toEqual([]);
  expect(await asOwner(world, 'select count(*) from history', [])).toEqual(before);
});
