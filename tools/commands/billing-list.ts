import {
  organizationBilling,
  organizationModule,
  organizationSubscription,
  organization,
  webhookEvent,
} from '#entities/index.ts';
import { isLive } from '#entities/billing/live-subscription.ts';
import { firstIdAt, newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { ToolContext } from './tool.ts';

type Billing = RowOf<typeof organizationBilling>;

/** Organizations that are read together. */
const pageSize = 100;

/** Newest events without an effect. */
const maxEvents = 20;

/** Most modules and most subscriptions of a page. */
const maxRows = 100_000;

/**
 * Shows who has and pays what, and until when, with the problems and differences that an operator resolves.
 * @returns whether there are none
 */
export async function listBilling({ runtime: { database }, print }: ToolContext<'database'>): Promise<boolean> {
  const context = { caller: systemCaller('billing of operators'), requestId: `billing-${newId()}`, readOnly: true };
  let after = firstIdAt(new Date(0));
  let [count, open] = [0, 0];
  for (;;) {
    const page = await database.transact(context, ({ data }) => readPage(data, after));
    for (const { billing, lines } of page) {
      for (const line of lines) print(line);
      count += 1;
      if (billing.problem !== null || billing.differences !== null) open += 1;
    }
    const last = page.at(-1);
    if (!last || page.length < pageSize) break;
    after = last.billing.id;
  }
  const strange = await database.transact(context, ({ data }) =>
    data.find(webhookEvent, {
      where: { provider: { eq: 'payment' }, problem: { isNull: false } },
      orderBy: [{ field: 'id', direction: 'desc' }],
      limit: maxEvents,
    }),
  );
  for (const { externalId, type, problem } of strange) print(`event ${externalId} (${type}): ${problem}`);
  print(`${count} organizations; ${open} with problems or differences.`);
  return open === 0;
}

async function readPage(data: DataClient, after: string) {
  const billings = await data.find(organizationBilling, {
    where: { id: { gt: after } },
    orderBy: [{ field: 'id', direction: 'asc' }],
    limit: pageSize,
  });
  const ids = { in: billings.map(({ organizationId }) => organizationId) };
  const homes = await data.find(organization, { where: { id: ids }, limit: pageSize });
  const where = { organizationId: ids };
  const modules = await data.find(organizationModule, {
    where,
    orderBy: [{ field: 'module', direction: 'asc' }],
    limit: maxRows,
  });
  const subscriptions = (await data.find(organizationSubscription, { where, limit: maxRows })).filter(isLive);
  return billings.map((billing) => {
    const { organizationId } = billing;
    const isOwn = (row: { readonly organizationId: string | null }) => row.organizationId === organizationId;
    const name = homes.find(({ id }) => id === organizationId)?.name ?? '';
    return { billing, lines: linesOf(billing, name, subscriptions.filter(isOwn), modules.filter(isOwn)) };
  });
}

function linesOf(
  { organizationId, customerId, isLapsed, problem, differences }: Billing,
  name: string,
  subscriptions: readonly RowOf<typeof organizationSubscription>[],
  modules: readonly RowOf<typeof organizationModule>[],
): string[] {
  const paid = subscriptions.map(
    ({ status, interval, endsAt, cancelsAt }) =>
      `${status}${interval === null ? '' : `, each ${interval}`}${cancelsAt === null ? until(endsAt, ', until') : until(cancelsAt, ', ends')}`,
  );
  const held = modules.map(({ module, source, endsAt }) => `${module} (${source}${until(endsAt, ' until')})`);
  return [
    `${organizationId}  ${name}  ${customerId ?? 'no customer yet'}  ${paid.join('; ') || (isLapsed ? 'lapsed' : 'no subscription')}`,
    ...(held.length === 0 ? [] : [`  ${held.join(', ')}`]),
    ...(problem?.split('\n') ?? []).map((line) => `  problem: ${line}`),
    ...(differences?.split('\n') ?? []).map((line) => `  difference: ${line}`),
  ];
}

function until(end: Date | null, words: string): string {
  return end === null ? '' : `${words} ${end.toISOString().slice(0, 10)}`;
}
