import { soleOrganizationOf, type RecordedChange } from '../model/recorded-changes.ts';
import { fileFieldsOf } from '../model/files/stored-file.ts';

type Values = Readonly<Record<string, unknown>>;

/** An object that a field of a record owns from now on, or no longer. */
export interface ObjectRow {
  readonly object: string;
  readonly kind: string;
  readonly id: string;
  readonly field: string;
  readonly organization: string | null;
  readonly owned: boolean;
  /** Caller who writes the record: an object that no record has owned must be one of their uploads. */
  readonly actor: string;
  /** RFC 3339. */
  readonly at: string;
}

export interface VerdictRow {
  readonly id: string;
  readonly object: string;
  readonly organization: string | null;
  readonly verdict: string;
  /** Creation of the verdict. */
  readonly at: unknown;
}

/**
 * The objects that records own or release with these changes. A deleted record owns none, so a deletion releases its files, and one that
 * is undone owns them again.
 */
export function objectRows(
  changes: readonly RecordedChange[],
  { actor, at }: Pick<ObjectRow, 'actor' | 'at'>,
): ObjectRow[] {
  return changes.flatMap((change) =>
    fileFieldsOf(change.module).flatMap(({ name }): ObjectRow[] => {
      const former = ownedIn(change.before, name);
      const next = ownedIn(change.after, name);
      if (former === next) return [];
      const owner = {
        kind: change.module.topic,
        id: change.id,
        field: name,
        organization: soleOrganizationOf(change.module, change.organizationId),
        actor,
        at,
      };
      return [
        ...(former === null ? [] : [{ ...owner, object: former, owned: false }]),
        ...(next === null ? [] : [{ ...owner, object: next, owned: true }]),
      ];
    }),
  );
}

function ownedIn(values: Values | null, field: string): string | null {
  if (values === null || values['deletedAt'] != null) return null;
  return (values[field] as string | null | undefined) ?? null;
}

export function verdictRows(changes: readonly RecordedChange[]): VerdictRow[] {
  return changes.flatMap(({ module, operation, id, after, organizationId }) => {
    const verdicts = module.behaviours?.find((behaviour) => behaviour.verdicts)?.verdicts;
    if (!verdicts || operation !== 'created') return [];
    return [
      {
        id,
        object: String(after[verdicts.object]),
        organization: soleOrganizationOf(module, organizationId),
        verdict: String(after[verdicts.verdict]),
        at: after['createdAt'],
      },
    ];
  });
}
