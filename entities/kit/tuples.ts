/**
 * Relationship tuples are declared by the entity whose rows they follow. A transaction writes the tuples a row should
 * have as *desired* rows; the relay brings the authorization store there. So an older grant can never land after a
 * newer revocation (design, Authorization).
 */
export interface TupleGrant<Name extends string = string> {
  readonly object: { readonly kind: string; readonly id: Name | 'id' };
  /** A relation of the object's type, or the field that names it. */
  readonly relation: string | { readonly field: Name };
  readonly subject: { readonly kind: string; readonly id: Name | 'id' };
}

export interface Tuple {
  readonly object: string;
  readonly relation: string;
  readonly subject: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The tuples a live row stands for; none when one of the named fields is empty. */
export function tuplesOf(grants: readonly TupleGrant[], row: Values): Tuple[] {
  return grants.flatMap((grant) => {
    const objectId = row[grant.object.id];
    const subjectId = row[grant.subject.id];
    const relation = typeof grant.relation === 'string' ? grant.relation : row[grant.relation.field];
    if (typeof objectId !== 'string' || typeof subjectId !== 'string' || typeof relation !== 'string') return [];
    return [{ object: `${grant.object.kind}:${objectId}`, relation, subject: `${grant.subject.kind}:${subjectId}` }];
  });
}

/** What must change in the store when a row goes from `before` to `after` (null: not there, or soft-deleted). */
export function tupleChanges(
  grants: readonly TupleGrant[],
  before: Values | null,
  after: Values | null,
): (Tuple & { readonly present: boolean })[] {
  const key = (tuple: Tuple) => JSON.stringify([tuple.object, tuple.relation, tuple.subject]);
  const held = new Map((before ? tuplesOf(grants, before) : []).map((tuple) => [key(tuple), tuple]));
  const wanted = new Map((after ? tuplesOf(grants, after) : []).map((tuple) => [key(tuple), tuple]));
  return [
    ...[...wanted].filter(([name]) => !held.has(name)).map(([, tuple]) => ({ ...tuple, present: true })),
    ...[...held].filter(([name]) => !wanted.has(name)).map(([, tuple]) => ({ ...tuple, present: false })),
  ];
}
