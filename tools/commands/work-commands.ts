import { declaredDueWork } from '#entities/declared-due-work.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { readWaitingRows, type WaitingRows } from '#entities/kit/due-work/due-rows.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { listFailingWork, workPosition, type FailingWork } from '#entities/kit/outbox/failing-work-list.ts';
import { runUrlOf } from '#runtime/event-runs.ts';
import { openLanesOf } from '#runtime/open-lanes.ts';
import type { ToolContext } from './tool.ts';
import type { WorkCommand } from './work-arguments.ts';
import { actionsOn, WorkRepairs } from '#runtime/work-repairs.ts';

interface WorkTool extends ToolContext<'database' | 'storage' | 'temporal'> {
  /** Base address of the Temporal UI, if it is known. */
  readonly temporalUi: string | undefined;
}

/** @throws AppError */
export async function runWorkCommand(command: WorkCommand, tool: WorkTool): Promise<boolean> {
  const { runtime, print } = tool;
  const context = { caller: systemCaller('operator of work'), requestId: `work-${newId()}`, readOnly: true };
  if (command.name === 'queues') {
    for (const work of declaredDueWork) {
      const waiting = await runtime.database.transact(context, (unit) => readWaitingRows(unit, work));
      print(`${work.name}: ${work.workflow}`);
      for (const rows of waiting) print(`  ${waitingLine(rows, openLanesOf(work, runtime))}`);
      if (waiting.length === 0) print('  0 due, 0 later');
    }
    return true;
  }
  if (command.name !== 'list') {
    const { name, id, operator, reason } = command;
    print(`${id}: ${await new WorkRepairs(runtime).do(name, id, { operator, reason })}`);
    return true;
  }
  const { selection, limit, after } = command;
  const found = await runtime.database.transact(context, (unit) =>
    listFailingWork(unit, selection, { limit, ...(after === undefined ? {} : { after }) }),
  );
  for (const work of found) for (const line of linesOf(work, tool)) print(line);
  const last = found.at(-1);
  if (!last) print('No work fails or waits.');
  else if (found.length === limit) print(`for the next ones: --after ${workPosition(last)}`);
  return true;
}

function waitingLine(
  { lane, due, later, oldestDueAt }: WaitingRows,
  openLanes: readonly (string | undefined)[],
): string {
  const since = oldestDueAt === null ? '' : ` since ${oldestDueAt.toISOString()}`;
  const paused = openLanes.includes(lane ?? undefined) ? '' : ', paused';
  return `${lane === null ? '' : `${lane}: `}${due} due${since}, ${later} later${paused}`;
}

function linesOf(work: FailingWork, { runtime, temporalUi }: WorkTool): string[] {
  const { id, kind, status, organizationId, recordId, requestId, attempts, error, since, nextAttemptAt } = work;
  const { workflowId, runId, workflowType, activity } = work;
  const { retry, stop } = actionsOn(work);
  const run = workflowId !== null && runId !== null ? { workflowId, runId } : undefined;
  const url = run ? runUrlOf(temporalUi, runtime.temporal.settings.namespace, run) : null;
  const of = [
    organizationId === null ? [] : [`organization ${organizationId}`],
    recordId === null ? [] : [`record ${recordId}`],
    requestId === null ? [] : [`request ${requestId}`],
    attempts === null ? [] : [`${attempts} attempts`],
    nextAttemptAt === null ? [] : [`next ${nextAttemptAt.toISOString()}`],
  ].flat();
  return [
    `${since.toISOString()}  ${id}  ${kind}  ${status}  ${of.join('  ')}`,
    `  ${error}`,
    ...(workflowType === null
      ? []
      : [`  ${[workflowType, activity].filter((part) => part !== null).join(' ')}: ${url ?? workflowId}`]),
    ...(retry === null ? [] : [`  retry: ${retry}`]),
    ...(stop === null ? [] : [`  stop: ${stop}`]),
  ];
}
