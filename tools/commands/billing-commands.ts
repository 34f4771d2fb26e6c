import { organizationBilling, organizationModule, organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { BillingCommand } from './billing-arguments.ts';
import { listBilling } from './billing-list.ts';
import { checkCatalogue, registerPaymentWebhook, showPaymentWebhook } from './payment-account.ts';
import type { ToolContext } from './tool.ts';

/** Operations on what organizations pay for, for operators. @returns whether it was done, and nothing differs */
export async function runBillingCommand(
  command: BillingCommand,
  context: ToolContext<'database' | 'payment' | 'config'>,
): Promise<boolean> {
  switch (command.name) {
    case 'list':
      return listBilling(context);
    case 'catalogue check':
      return checkCatalogue(context);
    case 'webhook status':
      return showPaymentWebhook(context);
    case 'webhook register':
      return registerPaymentWebhook(context, command.apiVersion);
    case 'grant':
    case 'revoke':
      return changeGrant(command, context);
    default:
      return command satisfies never;
  }
}

type Change = Extract<BillingCommand, { readonly organizationId: string }>;

async function changeGrant(command: Change, { runtime, print }: ToolContext<'database'>): Promise<boolean> {
  const work = { caller: systemCaller('billing of operators'), requestId: `billing-${newId()}` };
  const { organizationId, module, name, endsAt } = command;
  const end = endsAt?.toISOString();
  const refusal = await runtime.database.transact(work, async (unit) => {
    const { data, clock } = unit;
    if (!(await data.findOne(organization, { id: { eq: organizationId } }))) return 'there is no such organization';
    if (endsAt !== null && endsAt <= clock.now()) return `${end} is over`;
    const isDone = await (name === 'grant' ? grant : revoke)(unit, command);
    if (isDone) await askForReading(unit, organizationId, name);
    else return name === 'grant' ? `${module} is granted so already` : `${module} is not granted`;
    return undefined;
  });
  const outcome =
    name === 'grant' ? `${module} is granted until ${end ?? 'it is revoked'}` : `the grant of ${module} has ended`;
  print(`${organizationId}: ${refusal ?? outcome}.`);
  return refusal === undefined;
}

async function grant({ data }: UnitOfWork, { organizationId, module, endsAt }: Change): Promise<boolean> {
  const held = await data.findOne(organizationModule, grantOf(organizationId, module));
  if (held && held.endsAt?.getTime() === endsAt?.getTime()) return false;
  if (held) await data.update(organizationModule, held.id, { endsAt });
  else await data.create(organizationModule, { organizationId, module, source: 'granted', endsAt });
  return true;
}

async function revoke({ data }: UnitOfWork, { organizationId, module }: Change): Promise<boolean> {
  const held = await data.findOne(organizationModule, grantOf(organizationId, module));
  if (held) await data.remove(organizationModule, held.id);
  return held !== undefined;
}

function grantOf(organizationId: string, module: Change['module']) {
  return { organizationId: { eq: organizationId }, module: { eq: module }, source: { eq: 'granted' } } as const;
}

/** A grant decides, too, whether the organization has lapsed. */
async function askForReading(unit: UnitOfWork, organizationId: string, change: string): Promise<void> {
  const billing = await unit.data.findOne(organizationBilling, { organizationId: { eq: organizationId } });
  if (billing) unit.emit(customEvent(organizationBilling, 'requested', billing, { change }));
}
