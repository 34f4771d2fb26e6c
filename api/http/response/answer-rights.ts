import type { Caller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** The rights under which an answer was given. A caller who has lost them does not get it again. */
export interface AnswerRights {
  /** Rights of the caller in the organization. */
  readonly caller: string;
  /** Ids of the records that the request wrote and that its caller could view, by kind. */
  readonly records: Readonly<Record<string, readonly string[]>>;
}

/** The rights under which the request of this unit of work is answered. Its counters list what was written (`listWritten`). */
export async function answerRights(unit: UnitOfWork): Promise<AnswerRights> {
  await unit.flush();
  const records: Record<string, readonly string[]> = {};
  for (const [kind, ids] of unit.counters.written) {
    const viewed = await viewedOf(unit, kind, [...ids]);
    if (viewed.size > 0) records[kind] = [...viewed];
  }
  return { caller: rightsOf(unit.context.caller), records };
}

/** Whether the caller still has the rights under which an answer was given. A deleted record is viewed by nobody. */
export async function hasAnswerRights(unit: UnitOfWork, { caller, records }: AnswerRights): Promise<boolean> {
  if (rightsOf(unit.context.caller) !== caller) return false;
  for (const [kind, ids] of Object.entries(records))
    if ((await viewedOf(unit, kind, ids)).size < ids.length) return false;
  return true;
}

async function viewedOf(unit: UnitOfWork, kind: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const [viewed] = await unit.data.viewedByEach(unit.registry.byKind(kind), [{ caller: unit.context.caller, ids }]);
  return viewed ?? new Set();
}

/** Groups are left out: what they give is a right to single records, which is looked up. */
function rightsOf({ role, relations, limits, productModules }: Caller): string {
  return JSON.stringify([role, relations.toSorted(), limits?.toSorted() ?? null, productModules.toSorted()]);
}
