import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { notification } from '#entities/notifications/notification.ts';
import type { EntityModule, RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** Somebody who is told, as they are now. */
export interface Recipient {
  readonly person: RowOf<typeof user>;
  readonly organizationId: string;
  /** Reads with their rights in the organization. */
  readonly data: DataClient;
}

/** Who a person is in an organization now; undefined unless they are an active member of it. */
export async function recipientIn(
  unit: UnitOfWork,
  { userId, organizationId }: { readonly userId: string; readonly organizationId: string },
): Promise<Recipient | undefined> {
  const where = { userId: { eq: userId }, organizationId: { eq: organizationId } };
  if (!(await unit.data.findOne(membership, where))) return undefined;
  const person = await unit.data.findOne(user, { id: { eq: userId } });
  if (person?.status !== 'active') return undefined;
  const state = await readMembershipState(unit, userId, organizationId);
  return { person, organizationId, data: unit.data.as(callerIn(userId, organizationId, state, {})) };
}

/**
 * Whether the recipient may view a record. Members see their organization: its rows are found by the session of a person, and here is none.
 */
export async function mayView({ data, organizationId }: Recipient, module: EntityModule, id: string): Promise<boolean> {
  if (module.kind === organization.kind) return id === organizationId;
  return (await data.findOne(module, { id: { eq: id } })) !== undefined;
}

/** Those notifications of which the recipient may view the record. One of no record is among them. */
export async function visibleTo<N extends Pick<RowOf<typeof notification>, 'targetKind' | 'targetId'>>(
  { data, organizationId }: Recipient,
  { registry }: UnitOfWork,
  notifications: readonly N[],
): Promise<N[]> {
  const visible = new Set([organizationId]);
  for (const topic of new Set(notifications.map(({ targetKind }) => targetKind))) {
    const module = registry.modules.find((one) => one.topic === topic);
    const ids = [...new Set(notifications.filter((one) => one.targetKind === topic).map(({ targetId }) => targetId))];
    const known = ids.filter((id) => id !== null);
    if (!module || module.kind === organization.kind || known.length === 0) continue;
    const rows = await data.find(module, { where: { id: { in: known } }, limit: known.length });
    for (const { id } of rows as readonly { readonly id: string }[]) visible.add(id);
  }
  return notifications.filter(({ targetId }) => targetId === null || visible.has(targetId));
}
