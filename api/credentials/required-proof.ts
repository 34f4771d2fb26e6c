import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Asking } from './asking.ts';
import { requireOrganizationProof } from './recent-proof.ts';

/** Values that a caller gives to fields of a record, new or not. */
interface GivenValues {
  readonly module: EntityModule;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Refuses values that need a recent proof of identity (`needsProof` of the kind) without one.
 * @throws AppError step_up_required, permission_denied
 */
export async function requireProofFor(asking: Asking, given: readonly GivenValues[]): Promise<void> {
  if (given.some(needsProof)) await requireOrganizationProof(asking);
}

function needsProof({ module, values }: GivenValues): boolean {
  return Object.entries(module.needsProof ?? {}).some(
    ([field, which = []]) =>
      values[field] !== undefined && (which === 'any' || which.some((value) => value === values[field])),
  );
}
