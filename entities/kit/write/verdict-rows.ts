import { soleOrganizationOf, type RecordedChange } from '../model/recorded-changes.ts';

/** A verdict on an object. */
export interface VerdictRow {
  readonly id: string;
  readonly object: string;
  readonly organization: string | null;
  readonly verdict: string;
  /** Creation of the verdict. */
  readonly at: unknown;
}

/** The verdicts that changes make. */
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
