import { Type } from 'typebox';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { isId } from '#entities/kit/base/ids.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { isFrozen } from '#entities/kit/unit/explanation.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { defineRoute, type Route } from '../../../http/route.ts';

const operations = ['view', 'edit', 'remove'] as const;
type Asked = (typeof operations)[number];

/** Records that one request asks about. */
const maxRecords = 50;

/**
 * Rights of the caller on records. A record that they cannot view answers like one that does not exist: nothing is allowed.
 * `explainAccess` (GraphQL) says why, and for others.
 */
export function ownAccessRoutes(registry: Registry): readonly Route[] {
  const modules = new Map(registry.modules.filter(isExposed).map((module) => [module.topic, module]));
  const kind = Type.Enum([...modules.keys()].toSorted(), { description: 'Kind of the record.' });
  const id = Type.String({ maxLength: 100, description: 'Id of the record. A malformed id matches no record.' });
  // The schema of the body admits no others.
  const moduleOf = (topic: string) => modules.get(topic) as EntityModule;
  const access = defineRoute({
    method: 'POST',
    url: '/v1/account/access',
    operationId: 'checkOwnAccess',
    tag: 'Account',
    summary: 'Whether an operation is allowed',
    description: 'Whether the caller may perform an operation on a record now.',
    access: 'required',
    acceptsSingleSignOn: true,
    body: Type.Object(
      {
        object_type: kind,
        object_id: id,
        relation: Type.Enum([...operations], { description: 'Operation on the record.' }),
      },
      { additionalProperties: false },
    ),
    answers: { 200: Type.Object({ allowed: Type.Boolean({ description: 'Whether it is allowed.' }) }) },
    errors: ['invalid_input', 'authorization_unavailable'],
    handle: async ({ body, unit }) => {
      const allowed = await allowedOn(unit, moduleOf(body.object_type), body.object_id, [body.relation]);
      return { status: 200, body: { allowed: allowed.length > 0 } };
    },
  });
  const roles = defineRoute({
    method: 'POST',
    url: '/v1/account/roles',
    operationId: 'getOwnRights',
    tag: 'Account',
    summary: 'Operations that are allowed on records',
    description: `The operations that the caller may perform on up to ${maxRecords} records of one kind now.`,
    access: 'required',
    acceptsSingleSignOn: true,
    body: Type.Object(
      { object_type: kind, object_ids: Type.Array(id, { minItems: 1, maxItems: maxRecords, uniqueItems: true }) },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({
        object_roles: Type.Record(Type.String(), Type.Array(Type.Enum([...operations])), {
          description: 'Allowed operations by the id of the record; none for a record that the caller cannot view.',
        }),
      }),
    },
    errors: ['invalid_input', 'authorization_unavailable'],
    handle: async ({ body, unit }) => {
      const found: [string, Asked[]][] = [];
      for (const one of body.object_ids)
        found.push([one, await allowedOn(unit, moduleOf(body.object_type), one, operations)]);
      return { status: 200, body: { object_roles: Object.fromEntries(found) } };
    },
  });
  return [access, roles];
}

async function allowedOn(
  unit: UnitOfWork,
  module: EntityModule,
  id: string,
  asked: readonly Asked[],
): Promise<Asked[]> {
  const row = isId(id) ? await unit.data.findOne(module, { id: { eq: id } }) : undefined;
  if (!row) return [];
  const allowed: Asked[] = [];
  for (const operation of asked)
    if (operation === 'view' || (await isAllowedNow(unit, module, operation, row))) allowed.push(operation);
  return allowed;
}

async function isAllowedNow(
  unit: UnitOfWork,
  module: EntityModule,
  operation: Exclude<Asked, 'view'>,
  row: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  return (await unit.data.decide(module, operation, row)).isAllowed && !(await isFrozen(unit, module, operation));
}
