import type { RowOf } from '#entities/kit/model/define.ts';
import type { integration } from '#entities/integrations/integration.ts';
import { managers, type Person } from '../audience.ts';
import type { NotificationContext } from '../define-notification.ts';

/** The person responsible for the integration, or the managers if that person does not manage the organization any more. */
export async function responsibleOrManagers<Payload>(
  occasion: NotificationContext<typeof integration, Payload>,
): Promise<Person[]> {
  const { responsibleId }: RowOf<typeof integration> = occasion.record;
  const all = await managers(occasion);
  const responsible = all.filter(({ userId }) => userId === responsibleId);
  return responsible.length > 0 ? responsible : all;
}
