import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  countDeliveries,
  listDeliveries,
  positionText,
  readEvent,
  type DeliveryPosition,
  type DeliverySelection,
  type EventDetails,
  type ListedDelivery,
} from '#entities/kit/outbox/delivery-list.ts';
import { waitingListeners } from '#entities/kit/outbox/listener-states.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import {
  repairDeliveriesContract,
  type RepairDeliveriesInput,
  type RepairGroup,
  type RepairReport,
  type RepairSelection,
} from '#workflows/events/repair-deliveries.contract.ts';
import { probingWorkflowId } from '#workflows/events/probe-listener.contract.ts';
import { EventRepairs, searchOf } from '#runtime/event-repairs.ts';
import { listEventRuns } from '#runtime/event-runs.ts';
import { followWorkflow } from './follow-workflow.ts';
import type { ToolContext } from './tool.ts';

/** A command about events, as an operator types it. */
export type EventCommand =
  | {
      readonly name: 'list';
      readonly selection: DeliverySelection;
      readonly limit: number;
      readonly after?: DeliveryPosition;
    }
  | { readonly name: 'count'; readonly selection: DeliverySelection }
  | { readonly name: 'show'; readonly eventId: string }
  | RepairCommand
  | { readonly name: 'progress'; readonly repairId: string }
  | { readonly name: 'stop'; readonly repairId: string; readonly operator: string; readonly reason: string };

export interface RepairCommand {
  readonly name: 'retry' | 'skip';
  /** `until` is the time of the command when left out. */
  readonly selection: Omit<RepairSelection, 'until'> & { readonly until?: string };
  readonly operator: string;
  readonly reason: string;
  readonly perSecond: number;
  readonly isDryRun: boolean;
}

type EventTool = ToolContext<'database' | 'temporal'>;

/**
 * Runs a command and prints what it has found or done. Deliveries are repaired by workers; interrupting the command does not stop it.
 * @returns whether the event or repair was found and something was done; a list may be empty
 * @throws AppError workflows_unavailable, database_unavailable
 */
export async function runEventCommand(command: EventCommand, tool: EventTool): Promise<boolean> {
  switch (command.name) {
    case 'list':
      return list(command, tool);
    case 'count':
      return count(command.selection, tool);
    case 'show':
      return show(command.eventId, tool);
    case 'retry':
    case 'skip':
      return repair(command, tool);
    case 'progress':
      return progress(command.repairId, tool);
    case 'stop':
      return stop(command, tool);
    default:
      command satisfies never;
      throw new Error('unknown command');
  }
}

async function list(
  { selection, limit, after }: Extract<EventCommand, { name: 'list' }>,
  tool: EventTool,
): Promise<boolean> {
  const found = await inDatabase(tool, (unit) =>
    listDeliveries(unit, selection, { order: 'newest', limit, ...(after ? { after } : {}) }),
  );
  await printHeld(selection, tool);
  for (const delivery of found) tool.print(lineOf(delivery));
  const last = found.at(-1);
  if (!last) tool.print('There are no such deliveries.');
  else if (found.length === limit) tool.print(`for the next ones: --after ${positionText(last)}`);
  return true;
}

async function count(selection: DeliverySelection, tool: EventTool): Promise<boolean> {
  const { total, groups } = await inDatabase(tool, (unit) => countDeliveries(unit, selection));
  await printHeld(selection, tool);
  printGroups(groups, tool);
  tool.print(`${total} in all`);
  return true;
}

async function show(eventId: string, tool: EventTool): Promise<boolean> {
  const { print, runtime } = tool;
  const found = await inDatabase(tool, (unit) => readEvent(unit, eventId, null));
  if (!found) {
    print(`There is no event ${eventId}. Events are kept as long as workflows that have ended (jobqueue.queueconf).`);
    return false;
  }
  for (const line of linesOf(found)) print(line);
  for (const { workflowId, type, status, startedAt } of await listEventRuns(runtime.temporal, found))
    print(`run ${workflowId}  ${type}  ${status}  since ${startedAt.toISOString()}`);
  return true;
}

async function repair(
  { name, selection, operator, reason, perSecond, isDryRun }: RepairCommand,
  tool: EventTool,
): Promise<boolean> {
  const { print, runtime, progressEveryMs } = tool;
  const now = await inDatabase(tool, async ({ clock }) => clock.now().toISOString());
  const repairId = newId();
  const { selected, groups, repaired, isStopped } = await followWorkflow<RepairReport, RepairDeliveriesInput>(
    repairDeliveriesContract,
    {
      repairId,
      operation: name,
      selection: { ...selection, until: selection.until ?? now },
      asked: { operator, reason },
      isDryRun,
      perSecond,
    },
    {
      temporal: runtime.temporal,
      print,
      progressEveryMs,
      progressLine: (report) => progressLine(repairId, report),
      search: searchOf(selection),
    },
  );
  if (selected === 0) {
    const hint = ' Deliveries that are held follow when the failing one before them has ended.';
    print(`No selected delivery is ${selection.states.join(' or ')}.${name === 'retry' ? hint : ''}`);
    return false;
  }
  printGroups(groups, tool);
  if (isDryRun) print(`${selected} deliveries selected; nothing was changed.`);
  else print(`${done[name]}: ${repaired} of ${selected} selected deliveries.${isStopped ? ' It was stopped.' : ''}`);
  return true;
}

const done = { retry: 'Tried again by their workflows', skip: 'Given up' } as const;

async function progress(repairId: string, tool: EventTool): Promise<boolean> {
  const found = await new EventRepairs(tool.runtime).state(repairId);
  tool.print(found ? progressLine(repairId, found.report) : noRepair(repairId));
  await printHeld({}, tool);
  return found !== undefined;
}

async function stop(
  { repairId, operator, reason }: Extract<EventCommand, { name: 'stop' }>,
  tool: EventTool,
): Promise<boolean> {
  const requestId = `events-${newId()}`;
  const status = await new EventRepairs(tool.runtime).stop(repairId, { operator, reason, requestId });
  if (status !== 'RUNNING') {
    tool.print(status ? `The repair ${repairId} has ended already (${status}).` : noRepair(repairId));
    return false;
  }
  tool.print(`The repair ${repairId} ends after the deliveries that it is working on; what it has done stays.`);
  return true;
}

function noRepair(repairId: string): string {
  return `There is no repair ${repairId}.`;
}

function progressLine(repairId: string, { selected, repaired, isStopped }: RepairReport): string {
  return `repair ${repairId}: ${repaired} of ${selected} deliveries${isStopped ? ', stopped' : ''}`;
}

/** Says which of the selected listeners are held as a whole: a repair does not help them. */
async function printHeld({ listener: wanted }: Pick<DeliverySelection, 'listener'>, tool: EventTool): Promise<void> {
  const { temporal } = tool.runtime;
  const held = await inDatabase(tool, (unit) => waitingListeners(unit));
  for (const { listener, heldAt, error, probes, waiting } of held) {
    if (wanted !== undefined && wanted !== listener) continue;
    const workflowId = `${temporal.settings.prefix}/${probingWorkflowId({ listener })}`;
    const why = error === null ? '' : ` with ${error}`;
    tool.print(
      `listener ${listener} fails on everything${why} since ${heldAt.toISOString()}: ${waiting} deliveries wait, ${probes} probes, workflow ${workflowId}`,
    );
  }
}

function printGroups(groups: readonly RepairGroup[], { print }: EventTool): void {
  for (const { count: size, status, topic, listener, error } of groups)
    print(`${size}  ${status}  ${topic}  ${listener}${error === null ? '' : `  ${error}`}`);
}

function lineOf(delivery: ListedDelivery): string {
  const { eventId, occurredAt, topic, entityId, organizationId, requestId, listener, status, error } = delivery;
  const of = organizationId === null ? '' : `  organization ${organizationId}`;
  const why = error === null ? '' : `  ${error}`;
  return `${occurredAt.toISOString()}  ${eventId}  ${status}  ${topic} ${entityId}  ${listener}${of}  request ${requestId}${why}`;
}

function linesOf({ event, deliveries, messages, repairs }: EventDetails): string[] {
  const { id, topic, occurredAt, entityKind, entityId, recordVersion, organizationId, actor, requestId } = event;
  const waits = event.batchId === null ? 'It waits for the relay.' : `Its batch ${event.batchId} is under way.`;
  return [
    `${id}  ${topic}  ${occurredAt.toISOString()}`,
    `record ${entityKind} ${entityId}, version ${recordVersion}, organization ${organizationId ?? 'none'}`,
    `by ${actor}, request ${requestId}`,
    `payload ${JSON.stringify(event.payload)}`,
    ...deliveries.map(
      ({ listener, status, error, updatedAt }) =>
        `listener ${listener}  ${status} since ${updatedAt.toISOString()}${error === null ? '' : `  ${error}`}`,
    ),
    ...(deliveries.length > 0 ? [] : [event.pending ? waits : 'No listener wanted it.']),
    ...messages.map(
      ({ endpointId, status, attempts }) => `endpoint ${endpointId}  ${status}  ${attempts} attempts failed`,
    ),
    ...repairs.map(
      ({ repairId, listener, operation, at, operator, reason }) =>
        `${operation} ${listener}  ${at.toISOString()}  by ${operator}: ${reason} (repair ${repairId})`,
    ),
  ];
}

function inDatabase<T>({ runtime: { database } }: EventTool, work: (unit: UnitOfWork) => Promise<T>): Promise<T> {
  return database.transact(
    { caller: systemCaller('operator of events'), requestId: `events-${newId()}`, readOnly: true },
    work,
  );
}
