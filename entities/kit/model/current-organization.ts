import type { Caller } from './caller.ts';
import type { EntityModule } from './define.ts';
import type { Operation } from './policy.ts';
import { AppError } from '../base/errors.ts';

/**
 * For a change that is refused: roles apply in the organization in which a person acts, and the record belongs to another one. Says which
 * is which, and how to switch; empty where no rule of the kind asks for a role in the organization of the record.
 */
export function elsewhereHint(
  { policy }: EntityModule,
  operation: Operation,
  row: Readonly<Record<string, unknown>>,
  { kind, organizationId }: Caller,
): string {
  if (kind !== 'user') return '';
  const theirs = (policy?.[operation] ?? [])
    .flatMap(({ effect, when }) => (effect === 'allow' && when.is === 'role-in' ? [row[when.field]] : []))
    .find((id) => typeof id === 'string');
  if (typeof theirs !== 'string' || theirs === organizationId) return '';
  const own = organizationId === null ? 'you act in none' : `you act in ${organizationId}`;
  return ` Roles apply in the organization in which you act: ${own}, and this belongs to ${theirs}. If you have such a role there, ${switchTo(theirs)}.`;
}

/** How a person acts in another organization: the end of a sentence. */
export function switchTo(organizationId: string): string {
  return `switch to it with POST /v1/switch {"target_organization_id": "${organizationId}"}, and continue with the token of the answer`;
}

/**
 * Refuses a request that names records of organizations by a person who acts in none, for whom there are no such records. Records of the
 * person in any organization (`rlsUsing`), such as their memberships, are theirs all the same.
 * @throws AppError no_current_organization
 */
export function refuseWithoutOrganization(
  module: EntityModule,
  { kind, organizationId }: Pick<Caller, 'kind' | 'organizationId'>,
): void {
  const { tenancy, rlsUsing } = module.historyOf ?? module;
  if (kind !== 'user' || organizationId !== null || tenancy !== 'organization' || rlsUsing) return;
  throw new AppError(
    'no_current_organization',
    'You act in no organization: your token names none, or one that was deleted, in which you have no role any more, or that requires its single sign-on. GET /v1/organizations lists yours; switch to one with POST /v1/switch {"target_organization_id": "…"}, and continue with the token of the answer.',
  );
}
