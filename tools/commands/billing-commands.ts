import { lockBilling } from '#activities/billing/billing-row.ts';
import { followGrants } from '#activities/billing/follow-grants.ts';
import { spareIfPaid } from '#activities/billing/spare-if-paid.ts';
import { selectedCatalogue } from '#entities/billing/catalogue/selected-catalogue.ts';
import { organizationBilling, organizationModule, organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
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

async function changeGrant(command: Change, { runtime, print }: ToolContext<'database' | 'config'>): Promise<boolean> {
  const work = { caller: systemCaller('billing of operators'), requestId: `billing-${newId()}` };
  const { organizationId, module, name, endsAt } = command;
  const end = endsAt?.toISOString();
  const catalogue = selectedCatalogue(runtime.config.current.ormconfig.modules);
  const refusal = await runtime.database.transact(work, async (unit) => {
    const home = await unit.data.findLocked(organization, organizationId);
    if (!home) return 'there is no such organization';
    if (endsAt !== null && endsAt <= unit.clock.now()) return `${end} is over`;
    const billing = await lockBilling(unit, organizationId);
    if (!billing && name === 'grant') return whyUnbilled(home);
    const isDone = await (name === 'grant' ? grant : revoke)(unit, command);
    if (!isDone) return name === 'grant' ? `${module} is granted so already` : `${module} is not granted`;
    if (name === 'grant') await spareIfPaid(unit, organizationId);
    if (billing) {
      // Nothing lapses while billing is off.
      if (runtime.config.current.subscription.enabled) await followGrants(unit, billing, catalogue);
      unit.emit(customEvent(organizationBilling, 'requested', billing, { change: name }));
    }
    return undefined;
  });
  const outcome =
    name === 'grant' ? `${module} is granted until ${end ?? 'it is revoked'}` : `the grant of ${module} has ended`;
  print(`${organizationId}: ${refusal ?? outcome}.`);
  return refusal === undefined;
}

/** Organizations without a billing have no plan that a grant could change. */
function whyUnbilled({ isPersonal, parentId }: Pick<RowOf<typeof organization>, 'isPersonal' | 'parentId'>): string {
  if (isPersonal) return 'it is a personal organization, which has no plan';
  if (parentId !== null) return `the plan of the organization above it (${parentId}) covers it; grant the module there`;
  return 'it is older than billing and has no plan yet; the backfill billing-rows gives it one (npm run backfills -- list)';
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
