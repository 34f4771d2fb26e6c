import { hasObjectRights, type Policy } from '../policy.ts';

/** Part of a definition that its rules concern. */
interface RuledKind {
  readonly tenancy: 'organization' | 'user' | { readonly none: string };
  readonly policy?: Policy;
  readonly productModules?: readonly string[];
  readonly rlsUsing?: string;
  readonly confinedReach?: string;
}

/** Conditions that the authorization store and SQL both decide, with the same result. */
const storeConditions = new Set(['anyone', 'system', 'role', 'scope', 'related', 'through']);

/** Contradictions between the rules, the tenancy and the product modules of a definition, one sentence each. */
export function policyMistakes({ tenancy, policy, productModules, rlsUsing, confinedReach }: RuledKind): string[] {
  const { view = [], create = [], edit = [], remove = [] } = policy ?? {};
  const mistakes: string[] = [];
  if (confinedReach && tenancy === 'organization')
    mistakes.push(
      'its records belong to organizations, so confined callers reach those of their own, and confinedReach says nothing',
    );
  if (productModules && tenancy !== 'organization')
    mistakes.push("product modules belong to organizations, so its tenancy must be 'organization'");
  if (productModules && rlsUsing)
    mistakes.push(
      "productModules and rlsUsing exclude each other: the caller's product modules do not decide about other organizations",
    );
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
