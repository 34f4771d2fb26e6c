import type { AuthorizationModel, Userset } from '@openfga/sdk';
import type { ModelType, Rewrite } from '#entities/kit/model/authorization-model.ts';

/** A model as the store takes it. */
export type WrittenModel = Pick<AuthorizationModel, 'schema_version' | 'type_definitions' | 'conditions'>;

export function writtenModel(types: readonly ModelType[]): WrittenModel {
  return {
    schema_version: '1.1',
    type_definitions: types.map((type) => ({
      type: type.name,
      relations: Object.fromEntries(type.relations.map(({ name, rewrite }) => [name, usersetOf(rewrite)])),
      metadata: {
        relations: Object.fromEntries(
          type.relations.map(({ name, direct }) => [
            name,
            { directly_related_user_types: direct.map((subject) => ({ ...subject })) },
          ]),
        ),
      },
    })),
  };
}

function usersetOf(rewrite: Rewrite): Userset {
  switch (rewrite.is) {
    case 'direct':
      return { this: {} };
    case 'computed':
      return { computedUserset: { relation: rewrite.relation } };
    case 'from':
      return {
        tupleToUserset: { tupleset: { relation: rewrite.tupleset }, computedUserset: { relation: rewrite.relation } },
      };
    case 'union':
      return { union: { child: rewrite.of.map(usersetOf) } };
    case 'difference':
      return { difference: { base: usersetOf(rewrite.base), subtract: usersetOf(rewrite.subtract) } };
    default:
      rewrite satisfies never;
      throw new Error('unknown rewrite');
  }
}

/** Content of a model, without what the server adds (ids, empty members, order): equal for models that decide alike. */
export function fingerprint(model: WrittenModel): string {
  const types = model.type_definitions.toSorted((a, b) => a.type.localeCompare(b.type));
  return JSON.stringify(meaning({ types, conditions: model.conditions }));
}

function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaning);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .map(([name, member]): [string, unknown] => [name, meaning(member)])
    .filter(([name, member]) => !isOrigin(name, member) && (name === 'this' || !isEmpty(member)))
    .toSorted(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(members);
}

/** Members that say which file a type, relation or condition comes from. A relation or condition of the same name has another shape. */
function isOrigin(name: string, value: unknown): boolean {
  if (name === 'module') return typeof value === 'string';
  return name === 'source_info' && typeof value === 'object' && value !== null && 'file' in value;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
