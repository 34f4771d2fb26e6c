import type { RelationReference, TypeDefinition, Userset } from '@openfga/sdk';
import { transformer } from '@openfga/syntax-transformer';
import { parentContext } from '#entities/kit/model/authorization-model.ts';
import type { WrittenModel } from './written-model.ts';

/** Where a model differs from what is required; texts are in OpenFGA's modeling language. */
interface ModelDifference {
  /** `task`, or `task#can_view`. */
  readonly name: string;
  readonly expected: string;
  /** Undefined when it is missing. */
  readonly found: string | undefined;
}

/**
 * Parts of another model that a model lacks or changes. It may say more: types, relations, conditions, and organizations under a
 * condition as parent context.
 */
export function modelDifferences(required: WrittenModel, given: WrittenModel): ModelDifference[] {
  return required.type_definitions.flatMap((type) => {
    const found = given.type_definitions.find((each) => each.type === type.type);
    if (!found) return [{ name: type.type, expected: `type ${type.type}`, found: undefined }];
    return Object.keys(type.relations ?? {})
      .filter((name) => !isKept(type, found, name))
      .map((name) => ({
        name: `${type.type}#${name}`,
        expected: printedRelation(type, name) ?? '',
        found: printedRelation(found, name),
      }));
  });
}

function isKept(required: TypeDefinition, given: TypeDefinition, name: string): boolean {
  const [wanted, found] = [required.relations?.[name], given.relations?.[name]];
  if (!wanted || !found || canonical(wanted) !== canonical(found)) return false;
  const subjects = new Set(subjectsOf(required, name).map(printedSubject));
  const extra = subjectsOf(given, name).filter((subject) => !subjects.delete(printedSubject(subject)));
  return subjects.size === 0 && extra.every((subject) => name === parentContext && isConditionedOrganization(subject));
}

function subjectsOf(type: TypeDefinition, relation: string): RelationReference[] {
  return type.metadata?.relations?.[relation]?.directly_related_user_types ?? [];
}

function isConditionedOrganization({ type, relation, wildcard, condition }: RelationReference): boolean {
  return type === 'organization' && !relation && !wildcard && Boolean(condition);
}

function printedSubject({ type, relation, wildcard, condition }: RelationReference): string {
  const name = wildcard ? `${type}:*` : relation ? `${type}#${relation}` : type;
  return condition ? `${name} with ${condition}` : name;
}

/** The same text for equivalent rewrites, whatever the order and nesting of their alternatives. */
function canonical(userset: Userset): string {
  if (userset.union) return `or(${alternatives(userset, 'union').toSorted().join()})`;
  if (userset.intersection) return `and(${alternatives(userset, 'intersection').toSorted().join()})`;
  if (userset.difference) return `not(${canonical(userset.difference.base)},${canonical(userset.difference.subtract)})`;
  if (userset.tupleToUserset) {
    const { tupleset, computedUserset } = userset.tupleToUserset;
    return `${computedUserset.relation} from ${tupleset.relation}`;
  }
  return userset.computedUserset ? (userset.computedUserset.relation ?? '') : 'this';
}

function alternatives(userset: Userset, operator: 'union' | 'intersection'): string[] {
  const found = (userset[operator]?.child ?? []).flatMap((child) =>
    child[operator] ? alternatives(child, operator) : [canonical(child)],
  );
  return [...new Set(found)];
}

/** The relation's own line of the language; undefined when the type has no such relation. */
function printedRelation(type: TypeDefinition, name: string): string | undefined {
  const relation = type.relations?.[name];
  if (!relation) return undefined;
  const metadata = { relations: { [name]: type.metadata?.relations?.[name] ?? {} } };
  const alone = { type: type.type, relations: { [name]: relation }, metadata };
  try {
    const text = transformer.transformJSONToDSL({ schema_version: '1.1', type_definitions: [alone] });
    return text.slice(text.indexOf('define ')).trim();
  } catch {
    // The language cannot say everything that JSON can.
    return JSON.stringify(relation);
  }
}
