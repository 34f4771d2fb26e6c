import { Type } from 'typebox';
import { apiToken } from '#entities/identity/api-token.ts';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { entitled, requiresPaymentMethod } from '#entities/kit/access/entitled.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { inputError, limitExceeded } from '#entities/kit/base/input-error.ts';
import { refuseWithoutPaymentMethod } from '#entities/kit/model/module-gate.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { refuseScopesBeyond, refuseUnknownScopes } from '#entities/kit/model/scopes.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from './asking.ts';
import { requireOrganizationProof, requireRecentProof } from './recent-proof.ts';

interface NewToken {
  readonly name: string;
  readonly description?: string | null;
  readonly scopes: readonly string[];
  /** Null for a token that works until it is deleted; `defaultLifetimeMs` from now when left out. */
  readonly expiresAt?: Date | string | null;
}

interface NewPersonalToken extends NewToken {
  /** Ids of the organizations in which it works; all of the person when empty or left out. */
  readonly organizationIds?: readonly string[] | null;
}

/** The id of a token, and the token itself, which is shown once. */
export interface IssuedToken {
  readonly id: string;
  readonly token: string;
}

/** The token in an answer. */
export const tokenValue = Type.String({
  description: 'The token; send it in the Authorization header as bearer token. It is shown once.',
});

/** Ends the description of an action that answers with a token. */
export const tokenOnce =
  'The token is shown in this response only: the server keeps no more than a keyed hash of its secret. The user must have signed in, or called POST /v1/2fa/step-up, within the last ten minutes.';

const defaultLifetimeMs = 90 * 86_400_000;

/** Maximum number of tokens of an organization, and of a person. */
const maxTokens = 200;

/** Memberships that are read at once. */
const pageSize = 100;

/** @throws AppError invalid_input, permission_denied, step_up_required, limit_exceeded */
export async function createApiToken(asking: Asking, input: NewToken): Promise<IssuedToken> {
  const { unit, services } = asking;
  // Locked, so that creations at the same time are counted one after the other.
  await unit.data.privileged('count tokens').findLocked(organization, unit.context.caller.organizationId ?? '');
  const values = checked(unit, services, 'api', input);
  const issued = services.apiTokens.issue('api');
  await unit.data.create(apiToken, { ...values, id: issued.id, ...issued.values });
  // After the creation, which says why somebody may not create tokens at all.
  await requireOrganizationProof(asking);
  refuseScopesBeyond(unit.registry, 'api', values.scopes, unit.context.caller);
  refuseMore(await unit.data.find(apiToken, { limit: maxTokens + 1 }));
  return issued;
}

/** @throws AppError invalid_input, permission_denied, payment_method_required, step_up_required, limit_exceeded; not_found for organizations of others */
export async function createPersonalToken(
  asking: Asking,
  { organizationIds, ...input }: NewPersonalToken,
): Promise<IssuedToken> {
  const { unit, services } = asking;
  const userId = personOf(unit);
  // Locked, so that creations at the same time are counted one after the other, and none outlives a password that is set meanwhile.
  await unit.data.findLocked(user, userId);
  await requireRecentProof(asking);
  const organizations = [...new Set(organizationIds)];
  await refuseForeign(asking, userId, organizations);
  const values = checked(unit, services, 'personal', input);
  const issued = services.apiTokens.issue('personal');
  await unit.data.privileged('create personal token').create(personalAccessToken, {
    ...values,
    userId,
    organizationIds: organizations,
    id: issued.id,
    ...issued.values,
  });
  refuseMore(await unit.data.find(personalAccessToken, { limit: maxTokens + 1 }));
  return issued;
}

/**
 * Replaces the secret of an API token. The old one stops working at once; a program that must continue meanwhile gets a second token.
 * @throws AppError not_found, permission_denied, step_up_required, token_expired
 */
export async function rotateApiToken(asking: Asking, id: string): Promise<IssuedToken> {
  const { unit, services } = asking;
  const held = await unit.data.findLocked(apiToken, existingId(apiToken, id));
  if (!held) throw missingRecord(apiToken, id);
  await requireOrganizationProof(asking);
  refuseExpired(held, services);
  refuseScopesBeyond(unit.registry, 'api', held.scopes, unit.context.caller);
  const issued = services.apiTokens.issue('api', held.id);
  const rotated = await unit.data.update(apiToken, held.id, { ...issued.values, rotatedAt: services.clock.now() });
  unit.emit(customEvent(apiToken, 'rotated', rotated, {}));
  return issued;
}

/**
 * The same for a personal token of the caller. Its authorizations for single sign-on end: whoever gets the new secret may not have been
 * the one who authorized it.
 * @throws AppError not_found, step_up_required, token_expired
 */
export async function rotatePersonalToken(asking: Asking, id: string): Promise<IssuedToken> {
  const { unit, services } = asking;
  await unit.data.findLocked(user, personOf(unit));
  await requireRecentProof(asking);
  const held = await unit.data.findLocked(personalAccessToken, existingId(personalAccessToken, id));
  if (!held) throw missingRecord(personalAccessToken, id);
  refuseExpired(held, services);
  const issued = services.apiTokens.issue('personal', held.id);
  const rotated = await unit.data.update(personalAccessToken, held.id, {
    ...issued.values,
    singleSignOnIds: [],
    singleSignOnRevisions: [],
    singleSignOnMembershipIds: [],
    rotatedAt: services.clock.now(),
  });
  unit.emit(customEvent(personalAccessToken, 'rotated', rotated, {}));
  return issued;
}

function checked<T extends NewToken>(
  unit: UnitOfWork,
  { clock }: Pick<Asking['services'], 'clock'>,
  sort: 'api' | 'personal',
  input: T,
): T & { readonly scopes: string[]; readonly expiresAt: Date | null } {
  const scopes = [...new Set(input.scopes)];
  if (scopes.length === 0) throw inputError([{ path: '/scopes', message: 'must have at least one scope' }]);
  refuseUnknownScopes(unit.registry, sort, scopes);
  const { expiresAt: wanted = new Date(clock.now().getTime() + defaultLifetimeMs) } = input;
  const expiresAt = wanted === null ? null : new Date(wanted);
  if (expiresAt && expiresAt <= clock.now())
    throw inputError([{ path: '/expiresAt', message: 'is not in the future' }]);
  return { ...input, scopes, expiresAt };
}

function personOf({ context: { caller } }: UnitOfWork): string {
  if (caller.kind !== 'user' || caller.subjectId === null)
    throw new AppError('permission_denied', 'Only people have personal tokens.');
  return caller.subjectId;
}

/**
 * @param ids of the organizations in which a token works; all of the person when empty
 * @throws AppError not_found, the same for organizations that do not exist and for those of others; payment_method_required
 */
async function refuseForeign({ unit, services }: Asking, userId: string, ids: readonly string[]): Promise<void> {
  const settings = services.config.current;
  const isForAll = ids.length === 0;
  if (isForAll && !requiresPaymentMethod(settings)) return;
  const states = await Promise.all(
    (isForAll ? await joinedBy(unit, userId) : ids).map(
      async (id) => isId(id) && readMembershipState(unit, userId, id),
    ),
  );
  const isMember = states.map((state) => state && state.role !== null);
  const fields = ids.flatMap((id, index) =>
    isMember[index] ? [] : [{ path: `/organizationIds/${index}`, message: missingRecord(organization, id).message }],
  );
  if (fields[0]) throw new AppError('not_found', fields[0].message, { details: { fields } });
  // The token works in these, in whichever of them it is created.
  for (const state of states) if (state) refuseWithoutPaymentMethod(entitled(state, settings, services.clock.now()));
}

/** The organizations in which a token works that names none. */
async function joinedBy(unit: UnitOfWork, userId: string): Promise<string[]> {
  const data = unit.data.privileged('organizations of a token');
  const joined: string[] = [];
  for (let after = ''; ;) {
    const page = await data.find(membership, {
      where: { userId: { eq: userId }, id: { gt: after } },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit: pageSize,
    });
    joined.push(...page.map(({ organizationId }) => organizationId));
    const last = page.at(-1);
    if (!last || page.length < pageSize) return joined;
    after = last.id;
  }
}

function refuseMore(held: readonly unknown[]): void {
  if (held.length > maxTokens)
    throw limitExceeded(`There are ${maxTokens} tokens already; delete unused ones.`, {
      path: '/',
      message: `more than ${maxTokens} tokens`,
    });
}

function refuseExpired(
  { expiresAt }: { readonly expiresAt: Date | null },
  { clock }: Pick<Asking['services'], 'clock'>,
): void {
  if (expiresAt && expiresAt <= clock.now())
    throw new AppError('token_expired', 'This token has expired; create another one.');
}
