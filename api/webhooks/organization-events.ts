import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { inputError } from '#entities/kit/base/input-error.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import { publicKinds } from '#entities/kit/model/event-catalogue.ts';
import { shownPayload, type ShownPayload } from '#entities/kit/model/shown-payload.ts';
import {
  deliveryStates,
  listDeliveries,
  parsePosition,
  positionText,
  readEvent,
  type DeliverySelection,
  type EventDetails,
  type ListedDelivery,
} from '#entities/kit/outbox/delivery-list.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { isManager } from '#entities/presets/roles.ts';
import type { Asking } from '../credentials/asking.ts';
import { pageSlice } from '../http/response/page-slice.ts';

export { deliveryStates, positionText };
export type { ListedDelivery as ShownDelivery };

/** Deliveries that are done are shown with their event: listing them could take long. */
export const openStates = ['failing', 'held', 'skipped'] as const;

export interface DeliveryArguments extends Omit<DeliverySelection, 'states' | 'organizationId' | 'eventIds'> {
  readonly status?: (typeof openStates)[number];
  /** Position of the last delivery of the page before. */
  readonly after?: string;
  readonly first?: number;
}

/** View of managers and operators of an event. */
export interface OrganizationEvent extends EventDetails {
  /** Undefined for kinds whose events do not leave the server. */
  readonly payload: ShownPayload | undefined;
}

/**
 * Deliveries of the events of the caller's organization that are not done, the newest first.
 * @throws AppError permission_denied, invalid_input, limit_exceeded
 */
export async function deliveriesOfOrganization(
  asking: Asking,
  { status, after, first, ...selection }: DeliveryArguments,
): Promise<readonly ListedDelivery[]> {
  const organizationId = managedOrganization(asking.unit);
  const states = status ? [status] : openStates;
  return pageOfDeliveries(asking, { ...selection, organizationId, states }, { after, first });
}

/** The caller of this function has checked that the user may see them. @throws AppError invalid_input, limit_exceeded */
export async function pageOfDeliveries(
  { unit, services }: Asking,
  selection: DeliverySelection,
  { after, first }: { readonly after: string | undefined; readonly first: number | undefined },
): Promise<readonly ListedDelivery[]> {
  const { size } = pageSlice({ first: first ?? null }, services.config.current.server.maxresultlimit);
  const position = after === undefined ? undefined : parsePosition(after);
  if (after !== undefined && !position)
    throw inputError([{ path: '/after', message: 'must be the position of a delivery' }]);
  return listDeliveries(unit, selection, { order: 'newest', limit: size, ...(position ? { after: position } : {}) });
}

/** An event of the caller's organization. @throws AppError permission_denied, not_found */
export async function eventOfOrganization(unit: UnitOfWork, wanted: string): Promise<OrganizationEvent> {
  const organizationId = managedOrganization(unit);
  const found = isId(wanted) ? await readEvent(unit, wanted, organizationId) : undefined;
  if (!found) throw new AppError('not_found', `There is no event "${shortened(wanted)}".`);
  return withShownPayload(unit, found);
}

/** An event with what may be shown of its payload. */
export function withShownPayload({ registry }: Pick<UnitOfWork, 'registry'>, found: EventDetails): OrganizationEvent {
  const { entityKind, payload } = found.event;
  const module = registry.modules.find(({ topic }) => topic === entityKind);
  return { ...found, payload: publicKinds(registry).has(entityKind) ? shownPayload(payload, module) : undefined };
}

/** The organization that the caller manages. @throws AppError permission_denied */
export function managedOrganization({ context: { caller } }: UnitOfWork): string {
  const { kind, organizationId, role } = caller;
  if (kind !== 'user' || organizationId === null || !isManager(role))
    throw new AppError(
      'permission_denied',
      'Only managers of the current organization see the deliveries of its events.',
    );
  return organizationId;
}
