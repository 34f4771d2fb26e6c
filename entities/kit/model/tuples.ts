import { snakeCase } from '../base/snake-case.ts';

/**
 * Relationship tuples are declared by the entity whose rows they follow. A transaction writes the tuples a row should
 * have as *desired* rows; the relay brings the authorization store there. So an older grant can never land after a
 * newer revocation (design, Authorization). Compiled reads look at the same rows (read/grants.ts).
 */
export interface TupleGrant<Name extends string = string> {
  readonly object: { readonly kind: string; readonly id: Name | 'id' };
  /** A relation of the object's type, or the field that names it. */
  readonly relation: string | { readonly field: Name };
  /** `user` itself, everybody in a `group` (`member`), or everybody in an `organization` (`participant`). */
  readonly subject: { readonly kind: 'user' | 'group' | 'organization'; readonly id: Name | 'id' };
  /** Only rows whose field holds this stand for the tuple. */
  readonly when?: { readonly field: Name; readonly is: string };
}

export interface Tuple {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

/** A condition of the model, and the parameters it is decided with. */
export interface TupleCondition {
  readonly name: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** A tuple that counts only while its condition holds. Desired tuples have none. */
export interface ConditionedTuple extends Tuple {
  readonly condition?: TupleCondition;
}

type Values = Readonly<Record<string, unknown>>;

/** The relation by which those behind a subject are found; people stand for themselves. */
export const subjectRelations = { user: '', group: 'member', organization: 'participant' } as const;

/** An object as the authorization store names it. */
export function objectName(kind: string, id: string): string {
  return `${snakeCase(kind)}:${id}`;
}

/** A subject as the authorization store names it: `user:<id>`, `group:<id>#member`. */
export function subjectName(kind: TupleGrant['subject']['kind'], id: string): string {
  const relation = subjectRelations[kind];
  return relation === '' ? `${kind}:${id}` : `${kind}:${id}#${relation}`;
}

/** The tuples a live row stands for; none when one of the named fields is empty. */
export function tuplesOf(grants: readonly TupleGrant[], row: Values): Tuple[] {
  return grants.flatMap((grant) => {
    if (grant.when && row[grant.when.field] !== grant.when.is) return [];
    const objectId = row[grant.object.id];
    const subjectId = row[grant.subject.id];
    const relation = typeof grant.relation === 'string' ? grant.relation : row[grant.relation.field];
    if (typeof objectId !== 'string' || typeof subjectId !== 'string' || typeof relation !== 'string') return [];
    return [
      {
        object: objectName(grant.object.kind, objectId),
        relation,
        subject: subjectName(grant.subject.kind, subjectId),
      },
    ];
  });
}

/** What must change in the store when a row goes from `before` to `after` (null: not there, or soft-deleted). */
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

/** Different for different tuples, whatever their parts hold. */
export function tupleKey({ object, relation, subject }: Tuple): string {
  return JSON.stringify([object, relation, subject]);
}

/** Tuples as the three columns of an `unnest`. */
export function columnsOf(tuples: readonly Tuple[]): [string[], string[], string[]] {
  return [
    tuples.map((tuple) => tuple.object),
    tuples.map((tuple) => tuple.relation),
    tuples.map((tuple) => tuple.subject),
  ];
}

/** The last word per tuple: an upsert may not touch one row twice. */
export function oneByOne<T extends Tuple>(tuples: readonly T[]): T[] {
  return [...new Map(tuples.map((tuple) => [tupleKey(tuple), tuple])).values()];
}
