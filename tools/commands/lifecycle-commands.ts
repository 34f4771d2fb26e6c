import type { LifecycleRow } from '#entities/organizations/lifecycle-rows.ts';
import {
  isRefusal,
  LifecycleOperations,
  type ExplainedLifecycle,
  type ListedLifecycle,
} from '#runtime/lifecycle-operations.ts';
import { undeleteOrganization, type Undeletion } from '#runtime/undelete-organization.ts';
import type { LifecycleCommand } from './lifecycle-arguments.ts';
import type { ToolContext } from './tool.ts';

/** Organizations that are read together. */
const pageSize = 100;

/** Operations on the ends of organizations. @returns whether it was done */
export async function runLifecycleCommand(
  command: LifecycleCommand,
  { runtime, print }: ToolContext<'database' | 'config'>,
): Promise<boolean> {
  const operations = new LifecycleOperations(runtime);
  try {
    switch (command.name) {
      case 'list':
        await list(operations, command.days, print);
        break;
      case 'explain':
        for (const line of explained(await operations.explain(command.organizationId))) print(line);
        break;
      case 'postpone':
        print(await operations.postpone(command.organizationId, command.until, command));
        break;
      case 'spare':
        print(await operations.spare(command.organizationId, command.until, command));
        break;
      case 'undelete':
        print(undeleted(await undeleteOrganization(runtime.database, command, command)));
        break;
      default:
        command satisfies never;
    }
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    print(error.message);
    return false;
  }
}

function undeleted({ organizationId, organizations, removalId }: Undeletion): string {
  const others = organizations > 1 ? `, with ${organizations - 1} below it` : '';
  return `The organization ${organizationId} is being restored${others}; GET /v1/operations/removals lists the removal ${removalId} until it is there.`;
}

async function list(operations: LifecycleOperations, days: number | undefined, print: (line: string) => void) {
  const marked = await eachPage(
    (after) => operations.marked({ limit: pageSize, after }),
    (row) => {
      const notice = row.deletionNotice === null ? 'no notice yet' : `last notice ${row.deletionNotice}`;
      const why = row.deletionRequesterId === null ? 'nobody pays' : `announced by ${row.deletionRequesterId}`;
      print(
        `${row.id}  ${row.name}  marked ${day(row.markedForDeletionAt)}  deleted ${day(operations.deletedAt(row))}  ${notice}  ${why}`,
      );
    },
  );
  print(`${marked} organizations are marked.`);
  if (days === undefined) return;
  const coming = await eachPage(
    (after) => operations.candidates({ limit: pageSize, after, days }),
    (row) => print(`${row.id}  ${row.name}  created ${day(row.createdAt)}  nobody pays`),
  );
  print(`${coming} more will be marked within ${days} days if nothing else happens.`);
}

/** @returns how many there were */
async function eachPage(
  read: (after: string | undefined) => Promise<ListedLifecycle>,
  show: (row: LifecycleRow) => void,
): Promise<number> {
  let count = 0;
  for (let after: string | undefined; ;) {
    const { found, next } = await read(after);
    for (const row of found) show(row);
    count += found.length;
    if (next === null) return count;
    after = next;
  }
}

function explained({ facts, decision, deletedAt, next, marking, deleting }: ExplainedLifecycle): string[] {
  const { action, reason } = decision;
  return [
    `${facts.id}  ${facts.name}`,
    `  created: ${instant(facts.createdAt)}`,
    `  personal: ${yes(facts.isPersonal)}`,
    `  parent: ${facts.parentId ?? 'none'}`,
    `  founder exempt: ${yes(facts.isBypassed)}`,
    `  payment method: ${yes(facts.hasPaymentMethod)}`,
    `  subscriptions: ${facts.subscriptionStatuses.join(', ') || 'none'}`,
    `  subscriptions end: ${instant(facts.subscriptionsEndAt)}`,
    `  trial ends: ${instant(facts.trialEndsAt)}`,
    `  granted: ${yes(facts.isGranted)}`,
    `  grants end: ${instant(facts.grantsEndAt)}`,
    `  spared until: ${instant(facts.sparedUntil)}`,
    `  marked: ${instant(facts.markedForDeletionAt)}`,
    `  deleted at: ${instant(deletedAt)}`,
    `  last notice: ${facts.deletionNotice ?? 'none'}`,
    `  announced by: ${facts.deletionRequesterId ?? 'nobody'}`,
    `now: ${action ?? 'nothing'}, because ${reason}`,
    `next: ${next ? `${next.action} from ${next.at.toISOString()} on` : 'nothing'}`,
    `marking is ${marking}, deleting is ${deleting}`,
  ];
}

function yes(is: boolean): string {
  return is ? 'yes' : 'no';
}

function instant(at: Date | null): string {
  return at?.toISOString() ?? 'none';
}

function day(at: Date | null): string {
  return at?.toISOString().slice(0, 10) ?? 'never';
}
