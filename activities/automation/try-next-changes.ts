import { viewersOf } from '#entities/automation/approvals/who-counts.ts';
import { automatedKind } from '#entities/automation/document/automated-kinds.ts';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import type { Expressions } from '#entities/automation/document/expressions.ts';
import { changeOfVersion } from '#entities/automation/matching/changes-of-event.ts';
import { tryChange, type TriedChange } from '#entities/automation/trials/try-change.ts';
import {
  countPastChanges,
  pastChanges,
  type ChangePosition,
  type PastChange,
} from '#entities/automation/past-change-rows.ts';
import { rowsOfRecords } from '#entities/kit/unit/record-rows.ts';
import type { workflowDryRun } from '#entities/automation/workflow-dry-run.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import type { ChangesOf, RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

type DryRun = RowOf<typeof workflowDryRun>;

/** Changes of one transaction. */
const pageSize = 100;

/** Starts and failures that a report lists; all are counted. */
const maxListed = 100;

/** People whom a report names, those who would have been asked first. */
const maxPeople = 500;

const dayMs = 86_400_000;

interface Report {
  readonly starts: readonly {
    readonly recordId: string;
    readonly at: string;
    readonly operation: string;
    readonly holds: boolean;
    readonly actions: TriedChange['actions'];
  }[];
  readonly failures: readonly { readonly recordId: string; readonly at: string; readonly message: string }[];
  /** How often each person would have been asked or notified, by id. */
  readonly people: Readonly<Record<string, number>>;
  /** Highest cost of one change. */
  readonly highestCost: number;
}

const nothing: Report = { starts: [], failures: [], people: {}, highestCost: 0 };

/** Tries the definition for the next changes. @returns the changes of the dry run that report them */
export async function tryNextChanges(
  unit: UnitOfWork,
  expressions: Expressions,
  row: DryRun,
): Promise<ChangesOf<typeof workflowDryRun>> {
  const { organizationId, createdAt: until, days } = row;
  const module = automatedKind(unit.registry, row.recordKind);
  if (!module)
    throw new TypeError(`the dry run ${row.id} is about the kind "${row.recordKind}", which has no workflows`);
  const time = { organizationId, since: new Date(until.getTime() - days * dayMs), until };
  const position = row.position as ChangePosition | null;
  const total = position === null ? await countPastChanges(unit, module, time) : row.totalChanges;
  const page = await pastChanges(unit, module, time, { after: position, limit: pageSize });
  const rows = await rowsOfRecords(unit, module, [...new Set(page.map(({ recordId }) => recordId))]);
  let { starts, failures } = row;
  let cost = BigInt(row.cost);
  let report = (row.report as Report | null) ?? nothing;
  const trial = {
    unit,
    data: unit.data,
    expressions,
    organizationId,
    definitionId: row.definitionId,
    module,
    document: row.document as DefinitionDocument,
  };
  // Undefined for one that is deleted.
  const presentOf = (recordId: string) => {
    const record = rows.get(recordId);
    return record?.deletedAt === null ? record : undefined;
  };
  const isShown = async (subjectId: string): Promise<boolean> => {
    const about = { instance: { organizationId, subjectId }, module, record: presentOf(subjectId) };
    return (await viewersOf({ unit, data: unit.data }, about, personIn(row.createdBy))).size > 0;
  };
  for (const past of page) {
    const at = new Date(past.at);
    const change = changeOfVersion({
      ...past,
      organizationId,
      verb: past.operation,
      at,
      row: rows.get(past.recordId),
    });
    const { recordId, actor } = past;
    const tried = await tryChange(trial, {
      recordId,
      change,
      actor,
      isPresent: presentOf(recordId) !== undefined,
    });
    if (tried.starts) starts++;
    if (tried.failures.length > 0) failures++;
    cost += BigInt(Math.ceil(tried.cost));
    const hasPlace = report.starts.length < maxListed || report.failures.length < maxListed;
    const isListed = hasPlace && (tried.starts || tried.failures.length > 0) && (await isShown(recordId));
    report = extended(report, past, tried, isListed);
  }
  const last = page.at(-1);
  const isComplete = page.length < pageSize;
  return {
    totalChanges: total,
    readChanges: row.readChanges + page.length,
    starts,
    failures,
    cost: String(cost),
    report,
    ...(last && { position: { at: last.at, id: last.id } }),
    ...(isComplete && { status: 'completed' as const, finishedAt: unit.clock.now() }),
  };
}

/** @param isListed whether the person who asked for the dry run may view the record: results of expressions reveal its values */
function extended(
  report: Report,
  { recordId, at, operation }: PastChange,
  tried: TriedChange,
  isListed: boolean,
): Report {
  const people = { ...report.people };
  for (const { userIds } of tried.actions)
    for (const id of userIds)
      if (Object.hasOwn(people, id) || Object.keys(people).length < maxPeople) people[id] = (people[id] ?? 0) + 1;
  const start = { recordId, at, operation, holds: tried.holds, actions: withFewPeople(tried.actions) };
  const [message] = tried.failures;
  return {
    starts: isListed && tried.starts && report.starts.length < maxListed ? [...report.starts, start] : report.starts,
    failures:
      isListed && message !== undefined && report.failures.length < maxListed
        ? [...report.failures, { recordId, at, message: message.slice(0, 300) }]
        : report.failures,
    people,
    highestCost: Math.max(report.highestCost, tried.cost),
  };
}

/** The first people of each action: reports have a limited size. */
function withFewPeople(actions: TriedChange['actions']): TriedChange['actions'] {
  return actions.slice(0, 10).map((action) => ({ ...action, userIds: action.userIds.slice(0, 5) }));
}
