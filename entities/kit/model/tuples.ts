import { snakeCase } from '../base/snake-case.ts';
import { relationsOfScopes } from './scope-relations.ts';

/**
 * Declares which relationship tuple the authorization store must have for each row of a kind. A transaction records the tuples
 * of the rows it changes as desired tuples; the relay then updates the authorization store from them, so that an older grant can
 * never overwrite a newer revocation. Compiled reads evaluate grants on the same rows (read/grants.ts).
 */
export interface TupleGrant<Name extends string = string> {
  readonly object: { readonly kind: string; readonly id: Name | 'id' };
  /** A relation of the object's type, the field that holds its name, or the list field that holds scopes, each of which is a relation. */
  readonly relation: string | { readonly field: Name } | { readonly scopes: Name };
  /**
   * The `user` itself, all members of a `group` (`member`), all members of an `organization` (`participant`), or an API token
   * (`service`).
   */
  readonly subject: { readonly kind: 'user' | 'group' | 'organization' | 'service'; readonly id: Name | 'id' };
  /** Limits the grant to rows whose field has this value. */
  readonly when?: { readonly field: Name; readonly is: string };
}

export interface Tuple {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

export interface TupleCondition {
  readonly name: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** A tuple that applies only while its condition is met. Desired tuples have no condition. */
export interface ConditionedTuple extends Tuple {
  readonly condition?: TupleCondition;
}

type Values = Readonly<Record<string, unknown>>;

/** The relation that turns a subject into its members; empty for users and API tokens, which are subjects themselves. */
export const subjectRelations = { user: '', group: 'member', organization: 'participant', service: '' } as const;

/** An object as the authorization store names it. */
export function objectName(kind: string, id: string): string {
  return `${snakeCase(kind)}:${id}`;
}

/** A subject as the authorization store names it: `user:<id>`, `group:<id>#member`. */
export function subjectName(kind: TupleGrant['subject']['kind'], id: string): string {
  const relation = subjectRelations[kind];
  return relation === '' ? `${kind}:${id}` : `${kind}:${id}#${relation}`;
}

/** The tuples of a live row. A grant gives none when one of the fields that it names is null. */
export function tuplesOf(grants: readonly TupleGrant[], row: Values): Tuple[] {
  return grants.flatMap((grant) => {
    if (grant.when && row[grant.when.field] !== grant.when.is) return [];
    const objectId = row[grant.object.id];
    const subjectId = row[grant.subject.id];
    if (typeof objectId !== 'string' || typeof subjectId !== 'string') return [];
    return relationsIn(grant, row).map((relation) => ({
      object: objectName(grant.object.kind, objectId),
      relation,
      subject: subjectName(grant.subject.kind, subjectId),
    }));
  });
}

function relationsIn({ relation }: TupleGrant, row: Values): string[] {
  if (typeof relation === 'string') return [relation];
  if ('scopes' in relation) return relationsOfScopes((row[relation.scopes] ?? []) as string[]);
  const name = row[relation.field];
  return typeof name === 'string' ? [name] : [];
}

/** Names of the relations that a grant can give, by the definition of its kind; none for scopes, whose relations are to organizations. */
export function relationNames(
  { relation }: TupleGrant,
  fields: Readonly<Record<string, { readonly values?: readonly string[] }>>,
): readonly string[] {
  if (typeof relation === 'string') return [relation];
  return 'scopes' in relation ? [] : (fields[relation.field]?.values ?? []);
}

/** The tuples to write or delete when a row changes from `before` to `after` (null: it does not exist or is soft-deleted). */
export function tupleChanges(
  grants: readonly TupleGrant[],
  before: Values | null,
  after: Values | null,
): (Tuple & { readonly present: boolean })[] {
  const held = new Map((before ? tuplesOf(grants, before) : []).map((tuple) => [tupleKey(tuple), tuple]));
  const wanted = new Map((after ? tuplesOf(grants, after) : []).map((tuple) => [tupleKey(tuple), tuple]));
  return [
    ...[...wanted].filter(([name]) => !held.has(name)).map(([, tuple]) => ({ ...tuple, present: true })),
    ...[...held].filter(([name]) => !wanted.has(name)).map(([, tuple]) => ({ ...tuple, present: false })),
  ];
}

/** A unique key of a tuple, unambiguous for all values of its parts. */
export function tupleKey({ object, relation, subject }: Tuple): string {
  return JSON.stringify([object, relation, subject]);
}

/** Keeps the last entry of each tuple, because an upsert fails when it affects a row twice. */
export function deduplicateTuples<T extends Tuple>(tuples: readonly T[]): T[] {
  return [...new Map(tuples.map((tuple) => [tupleKey(tuple), tuple])).values()];
}
