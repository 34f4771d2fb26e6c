import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Asking } from './asking.ts';
import { requireOrganizationProof } from './recent-proof.ts';

/** Values that a caller gives to fields of a record, new or not. */
export interface GivenValues {
  readonly module: EntityModule;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Refuses values that need a recent proof of identity (`needsProof` of the kind) without one. It is asked after the change, which says why
 * somebody may not make it at all: a proof would not help them. The error undoes the change.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireProofFor(asking: Asking, given: readonly GivenValues[]): Promise<void> {
  if (given.some(needsProof)) await requireOrganizationProof(asking);
}

/** The same for a deletion (`deletionNeedsProof` of the kind). @throws AppError step_up_required, permission_denied */
export async function requireProofToDelete(asking: Asking, { deletionNeedsProof }: EntityModule): Promise<void> {
  if (deletionNeedsProof) await requireOrganizationProof(asking);
}

function needsProof({ module, values }: GivenValues): boolean {
  return Object.entries(module.needsProof ?? {}).some(
    ([field, which]) =>
      values[field] !== undefined && (which === 'any' || which.some((value) => value === values[field])),
  );
}

/**
 * Note in the description of a creation or a change; empty for kinds that need no proof.
 * @param nameOf the name of a field in the interface
 */
export function proofNote({ needsProof = {} }: EntityModule, nameOf: (field: string) => string): string {
  return Object.entries(needsProof)
    .map(([field, which]) => {
      const value = which === undefined || which === 'any' ? '' : ` to ${which.join(' or ')}`;
      return ` Setting \`${nameOf(field)}\`${value} ${requiresProof}`;
    })
    .join('');
}

/** Further note in the description of a deletion: what goes along with the record, and the proof that it needs. */
export function deletionNote({ deletionNeedsProof, behaviours = [] }: EntityModule): string {
  const notes = behaviours.flatMap(({ deletionNote: note }) => note ?? []).map((note) => ` ${note}`);
  return `${notes.join('')}${deletionNeedsProof ? ` The deletion ${requiresProof}` : ''}`;
}

/** End of a sentence about an operation. */
export const requiresProof = 'requires a sign-in, or a call of POST /v1/2fa/step-up, within the last ten minutes.';
