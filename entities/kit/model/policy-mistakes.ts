import { hasObjectRights, type Policy } from './policy.ts';

/** The parts of a definition on which it depends which rules a kind can have. */
interface PolicyUse {
  readonly policy?: Policy;
  readonly tenancy: unknown;
  readonly rlsUsing?: string;
}

/** Conditions that the authorization store and SQL both decide, with the same result. */
const storeConditions = new Set(['anyone', 'system', 'role', 'scope', 'related', 'through']);

/** Mistakes in the rules of a definition, one sentence each; empty for a correct definition. */
export function policyMistakes({ policy, tenancy, rlsUsing }: PolicyUse): string[] {
  const { view = [], create = [], edit = [], remove = [] } = policy ?? {};
  const mistakes: string[] = [];
  if (hasObjectRights(policy)) {
    const isEnded = view.at(-1)?.effect === 'deny' && view.at(-1)?.when.is === 'anyone';
    if (!isEnded)
      mistakes.push('its rights are granted per record, so its rules for viewing must end with deny(anyone)');
    const unsupported = [...view, ...edit, ...remove].find(({ when }) => !storeConditions.has(when.is));
    if (unsupported)
      mistakes.push(
        `the authorization store cannot decide "${unsupported.when.is}"; declare a grant and name its relation`,
      );
    if (tenancy !== 'organization')
      mistakes.push("its rights are granted per record, so its tenancy must be 'organization'");
  }
  // Its rows can belong to other organizations, where the caller's role in its own organization gives no right.
  if (rlsUsing && [...create, ...edit, ...remove].some(({ when }) => when.is === 'role'))
    mistakes.push(
      'it declares rlsUsing, so its rules for changes must name the organization in which a role counts (roleIn)',
    );
  return mistakes;
}
