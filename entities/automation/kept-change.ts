type Values = Readonly<Record<string, unknown>>;
type IdsByEdge = Readonly<Record<string, readonly string[]>>;

/** The change that started an instance, as its context keeps it for expressions of actions. Names of fields are those of rows. */
export interface KeptChange {
  readonly recordVersion: number;
  readonly changedFields: readonly string[];
  readonly changedEdges: readonly string[];
  readonly addedIds: IdsByEdge;
  readonly removedIds: IdsByEdge;
  /** Former values of the changed fields; null if they are unknown or too large. */
  readonly oldValues: Values | null;
  /** Person who made the change; null for a program or the server. */
  readonly userId: string | null;
  /** The caller who made it, as history names it: the person, and whoever acted as them. */
  readonly actor?: string | undefined;
  /** RFC 3339. */
  readonly at: string;
}

/** Facts about a change; links that are left out have not changed. */
interface GivenChange extends Pick<KeptChange, 'recordVersion' | 'changedFields' | 'oldValues' | 'userId' | 'actor'> {
  readonly changedEdges?: readonly string[] | undefined;
  readonly addedIds?: IdsByEdge | undefined;
  readonly removedIds?: IdsByEdge | undefined;
  readonly at: Date;
}

/** The kept change of an instance; empty for one that was made without it. */
export function keptChangeOf({ context }: { readonly context: unknown }): Partial<KeptChange> {
  return (context as { readonly change?: KeptChange } | null)?.change ?? {};
}

export function keptChange({
  changedEdges = [],
  addedIds = {},
  removedIds = {},
  at,
  ...given
}: GivenChange): KeptChange {
  return { ...given, changedEdges, addedIds, removedIds, at: at.toISOString() };
}
