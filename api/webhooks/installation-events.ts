import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import {
  countDeliveries,
  type deliveryStates,
  readEvent,
  type DeliveryGroup,
  type DeliverySelection,
  type ListedDelivery,
} from '#entities/kit/outbox/delivery-list.ts';
import { waitingListeners, type WaitingListener } from '#entities/kit/outbox/listener-states.ts';
import type { Asking } from '../credentials/asking.ts';
import { requireOperator } from '../credentials/required-operator.ts';
import { openStates, pageOfDeliveries, withShownPayload, type OrganizationEvent } from './organization-events.ts';

/** Requests of operators of the installation, for all organizations or for one. */
interface InstallationArguments extends Omit<DeliverySelection, 'states' | 'eventIds'> {
  readonly status?: (typeof deliveryStates)[number];
}

export interface InstallationPage extends InstallationArguments {
  readonly after?: string;
  readonly first?: number;
}

/**
 * Deliveries of the events of the installation, the newest first; those that are not done unless a status is asked for.
 * @throws AppError permission_denied, second_factor_required, invalid_input, limit_exceeded
 */
export async function deliveriesOfInstallation(
  asking: Asking,
  { status, after, first, ...selection }: InstallationPage,
): Promise<readonly ListedDelivery[]> {
  await requireOperator(asking);
  return pageOfDeliveries(asking, { ...selection, states: status ? [status] : openStates }, { after, first });
}

/** How many such deliveries there are, and the listeners that are held as a whole. @throws AppError permission_denied, second_factor_required */
export async function countsOfInstallation(
  asking: Asking,
  { status, ...selection }: InstallationArguments,
): Promise<{
  readonly total: number;
  readonly groups: readonly DeliveryGroup[];
  readonly held: readonly WaitingListener[];
}> {
  await requireOperator(asking);
  const { unit } = asking;
  const counted = await countDeliveries(unit, { ...selection, states: status ? [status] : openStates });
  return { ...counted, held: await waitingListeners(unit) };
}

/** An event of any organization. @throws AppError permission_denied, second_factor_required, not_found */
export async function eventOfInstallation(asking: Asking, wanted: string): Promise<OrganizationEvent> {
  await requireOperator(asking);
  const { unit } = asking;
  const found = isId(wanted) ? await readEvent(unit, wanted, null) : undefined;
  if (!found) throw new AppError('not_found', `There is no event "${shortened(wanted)}".`);
  return withShownPayload(unit, found);
}
