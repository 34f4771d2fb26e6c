import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, registry } from '#entities/index.ts';
import { anonymousCaller, callerOf, roles, type Caller } from '#entities/kit/model/caller.ts';
import type { DecisionTaken } from '#entities/kit/access/database-options.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { scopeRelations, type Operation } from '#entities/kit/model/policy.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { printRule } from '#entities/kit/model/print-rule.ts';
import { transactAs } from '../kit/as-person.ts';
import { callerNow } from '../kit/caller-now.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { AuthorizationFixtures, passingAtCreation, type FixtureRecord } from '../kit/records/authorization-fixtures.ts';
import { sampleOf } from '../kit/depth.ts';
import { expectedRights } from '../kit/records/rights-files.ts';
import { recordTried } from '../kit/tried.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { fileFieldsOf } from '#entities/kit/model/files/stored-file.ts';
import { uploadFor } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

const expected = expectedRights();
const kinds = triedKinds(registry.modules);
/** Those of the kinds that are tried. */
const situationsOf = [...expected].filter(([kind]) => kinds.some((module) => module.kind === kind));
const operations = ['view', 'edit', 'remove', 'create'] as const satisfies readonly Operation[];
const tokens = { reader: 'view', writer: 'edit', remover: 'remove' } as const;
const persons = [...roles, 'outsider', 'leaver'] as const;
const callers = [...persons, ...(Object.keys(tokens) as (keyof typeof tokens)[]), 'anonymous'] as const;
type CallerName = (typeof callers)[number];

/** Situations that say nothing about who the caller is. */
const impersonal = new Set(['any', 'other', 'private', 'public']);

/** A caller in a situation towards a record of a kind. */
interface RightsCase {
  readonly kind: string;
  readonly situation: string;
  readonly name: CallerName;
  /** Operations that are expected to be allowed. */
  readonly words: ReadonlySet<string>;
}

function casesOf(kind: string, situation: string, allowed: Readonly<Record<string, string>>): RightsCase[] {
  // Only people of the organization, or who were, can be in a situation.
  const ofSituation = impersonal.has(situation)
    ? callers
    : persons.filter((name) => name !== 'outsider' && Object.hasOwn(allowed, name));
  const isOfNoOrganization = registry.byKind(kind).tenancy !== 'organization';
  const asked = isOfNoOrganization && situation === 'themselves' ? (['member', 'outsider'] as const) : ofSituation;
  return asked.map((name) => {
    const words = new Set((allowed[name] ?? '').split(' ').filter((word) => word !== ''));
    return { kind, situation, name, words };
  });
}

const cases = situationsOf.flatMap(([kind, situations]) =>
  Object.entries(situations).flatMap(([situation, allowed]) => casesOf(kind, situation, allowed)),
);
/** Every situation of every kind, every caller of every kind, and of every operation of a kind allows and refusals. */
const tried = sampleOf('expected rights', cases, {
  by: [
    ({ kind, situation }) => `${kind} ${situation}`,
    ({ kind, name }) => `${kind} ${name}`,
    ...operations.map(
      (operation) =>
        ({ kind, situation, words }: RightsCase) =>
          `${kind} ${impersonal.has(situation)} ${words.has(operation)} ${operation}`,
    ),
  ],
});

let world: World;
let owner: Person;
let fixtures: AuthorizationFixtures;
const people = new Map<CallerName, Person>();
const decisions: DecisionTaken[] = [];
/** What was seen of each kind and operation: `task view` → outcomes. */
const seen = new Map<string, Set<string>>();

beforeAll(async () => {
  world = await openWorld({ onDecision: (taken) => decisions.push(taken) });
  owner = await buildPerson(world);
  fixtures = new AuthorizationFixtures(world, owner);
  const { organization } = owner;
  for (const role of roles) people.set(role, await buildPerson(world, { organization, role }));
  people.set('outsider', await buildPerson(world));
  people.set('leaver', await buildPerson(world, { organization, role: 'member' }));
  await leave();
});
afterAll(() => world.close());

function userIdOf(name: CallerName): string | undefined {
  return people.get(name)?.user.id;
}

async function leave(): Promise<void> {
  await fixtures.asSystem(async (data) => {
    const held = await data.findOne(membership, { userId: { eq: userIdOf('leaver') as string } });
    if (held) await data.remove(membership, held.id);
  });
}

/** Records towards which the leaver is in a situation are made before they leave. */
async function madeFor(kind: string, situation: string, name: CallerName): Promise<FixtureRecord> {
  const userId = userIdOf(name);
  if (name !== 'leaver' || impersonal.has(situation)) return fixtures.record(kind, situation, userId);
  await fixtures.asSystem((data) => data.create(membership, { userId: userId as string }));
  const made = await fixtures.record(kind, situation, userId);
  await leave();
  return made;
}

async function callerCalled(name: CallerName, kind: string): Promise<Caller> {
  const organizationId = owner.organization.id;
  if (name === 'anonymous') return { ...anonymousCaller, productModules };
  if (name === 'reader' || name === 'writer' || name === 'remover') {
    const module = registry.byKind(kind);
    const relations = [
      scopeRelations({ kind, operation: tokens[name] })[0] as string,
      // What it refers to must be within its scopes too; what passes rights on must be so by the rules.
      ...Object.entries(module.fields).flatMap(([field, { target, requires = 'view' }]) => {
        if (target === undefined || target === kind) return [];
        return [`can_${passingAtCreation(module).includes(field) ? 'view' : requires}_${snakeCase(target)}`];
      }),
    ];
    return callerOf({
      kind: 'api_token',
      subjectId: newId(),
      organizationId,
      relations,
      productModules,
    });
  }
  const person = people.get(name) as Person;
  const acting = name === 'outsider' ? person.organization.id : organizationId;
  return callerNow(world.runtime, person.user.id, acting);
}

/** Whoever acts in another organization tries to create in ours. */
function elsewhere({ tenancy }: EntityModule, { organizationId }: Caller): object {
  const isElsewhere = tenancy === 'organization' && organizationId !== owner.organization.id;
  return isElsewhere ? { organizationId: owner.organization.id } : {};
}

/** Who is named as the creator, where the kind requires one and the caller is no person. */
function creatorsFor({ fields }: EntityModule, caller: Caller): object {
  const required = Object.keys(fields).filter((name) => fields[name]?.creator && !fields[name].optional);
  return caller.kind === 'user' ? {} : Object.fromEntries(required.map((name) => [name, owner.user.id]));
}

/** Whether the caller may refer to the records that a new one has to refer to; the rules of the kind say nothing about those. */
async function seesReferences(
  caller: Caller,
  module: EntityModule,
  { creation = {} }: FixtureRecord,
): Promise<boolean> {
  const passing = passingAtCreation(module);
  return transactAs(world.runtime, caller, async ({ data }) => {
    for (const [name, id] of Object.entries(creation)) {
      const target = module.fields[name]?.target;
      if (target === undefined || passing.includes(name)) continue;
      if (!(await data.findOne(registry.byKind(target), { id: { eq: id as string } }))) return false;
    }
    return true;
  });
}

/** Tries it and takes it back. */
async function outcome(
  caller: Caller,
  module: EntityModule,
  operation: Operation,
  made: FixtureRecord,
): Promise<string> {
  const unit = world.runtime.database.unitOfWork({ caller, requestId: newId() });
  try {
    if (operation === 'view') await unit.data.get(module, made.id);
    if (operation === 'edit') await unit.data.update(module, made.id, made.change);
    if (operation === 'remove') await unit.data.remove(module, made.id);
    if (operation === 'create') {
      if (made.inTheWay !== undefined) await unit.data.privileged('test').remove(module, made.inTheWay);
      const input: Record<string, unknown> = {
        ...made.creation,
        ...creatorsFor(module, caller),
        ...elsewhere(module, caller),
      };
      // Uploads are those of whoever attaches them.
      for (const { name, field } of fileFieldsOf(module))
        if (input[name] !== undefined) input[name] = await uploadFor(world, caller, field);
      await unit.data.create(module, input);
    }
    await unit.flush();
    return 'allowed';
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  } finally {
    await unit.rollback();
  }
}

test('every kind has expected rights, and only kinds have', () => {
  const wanted = registry.modules.map(({ kind }) => kind).toSorted();
  const message = 'write entities/<area>/<kind>.rights.yaml for each kind';
  expect([...expected.keys()].toSorted(), message).toEqual(wanted);
});

describe.each(situationsOf)('%s', (kind, situations) => {
  const module = registry.byKind(kind);

  test.each(Object.entries(situations))('%s', async (situation, allowed) => {
    for (const name of Object.keys(allowed)) expect(callers, `caller "${name}"`).toContain(name);
    const isImpersonal = impersonal.has(situation);
    const chosen = tried.filter((one) => one.kind === kind && one.situation === situation);
    recordTried('callers in a situation', chosen.length, casesOf(kind, situation, allowed).length);
    for (const { name, words } of chosen) {
      const made = await madeFor(kind, situation, name);
      for (const word of words) expect(operations, `operation "${word}"`).toContain(word);
      const caller = await callerCalled(name, kind);
      for (const operation of operations) {
        if (operation === 'create' && !made.creation) continue;
        // What a relation to one record gives says nothing about creating others, where the file is silent about it.
        if (operation === 'create' && !isImpersonal && !words.has('create')) continue;
        const given = await outcome(caller, module, operation, made);
        seen.set(`${kind} ${operation}`, (seen.get(`${kind} ${operation}`) ?? new Set()).add(given));
        const elsewhere = caller.organizationId === null ? ['no_current_organization'] : [];
        const refusals =
          operation === 'create'
            ? ['permission_denied', 'not_found', ...elsewhere]
            : words.has('view')
              ? ['permission_denied']
              : ['not_found', ...elsewhere];
        const isExpected =
          words.has(operation) && (operation !== 'create' || (await seesReferences(caller, module, made)));
        const wanted = isExpected ? ['allowed'] : refusals;
        expect(wanted, `${name} → ${operation} a ${kind} (${situation})`).toContain(given);
      }
    }
  });
});

test('of every kind and operation that is for callers, an allow and a refusal were seen; the report says by which rule', () => {
  const missing: string[] = [];
  for (const { kind, policy } of kinds) {
    for (const operation of operations) {
      const isForCallers = policy?.[operation].some(({ effect, when }) => effect === 'allow' && when.is !== 'system');
      const outcomes = seen.get(`${kind} ${operation}`) ?? new Set();
      const isRefused = outcomes.has('permission_denied') || outcomes.has('not_found');
      if (isForCallers && !(outcomes.has('allowed') && isRefused))
        missing.push(`${kind} ${operation}: ${[...outcomes].join(', ') || 'nothing'}`);
    }
  }
  expect(missing).toEqual([]);
  const folder = join(import.meta.dirname, '../../.local');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy-report.md'), report());
});

/** For every kind and operation: which rule decided how often, and how. */
function report(): string {
  const rows = registry.modules.flatMap(({ kind, policy }) =>
    operations.map((operation) => {
      const taken = decisions.filter(
        (one) => one.kind === kind && one.operation === operation && one.caller.kind !== 'system',
      );
      const by = Map.groupBy(taken, ({ decision }) =>
        decision.rule === undefined ? decision.by : printRule(policy?.[operation][decision.rule]),
      );
      const counts = [...by].map(([rule, all]) => {
        const allowed = all.filter(({ decision }) => decision.isAllowed).length;
        return `${rule}: ${allowed} allowed, ${all.length - allowed} refused`;
      });
      return `| ${kind} | ${operation} | ${counts.join('; ') || 'in the WHERE of the read'} | ${[...(seen.get(`${kind} ${operation}`) ?? [])].join(', ')} |`;
    }),
  );
  return [
    '# Policy report',
    '',
    '| Kind | Operation | Decided by | Seen |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
