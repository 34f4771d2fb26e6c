import type { World } from './world.ts';
import { eventually } from './eventually.ts';

/** One run of a workflow, as the server lists it. */
export interface Run {
  /** Without the prefix of the installation. */
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly searchAttributes: Readonly<Record<string, unknown>>;
}

/** Runs of this installation that match a query of the visibility API. */
export async function runsOf({ name, runtime }: Pick<World, 'name' | 'runtime'>, query = ''): Promise<Run[]> {
  const own = `WorkflowId STARTS_WITH "${name}/"`;
  const found = await Array.fromAsync(
    runtime.temporal.client.workflow.list({ query: query ? `${own} AND ${query}` : own }),
  );
  return found.map((run) => ({
    id: run.workflowId.slice(name.length + 1),
    type: run.type,
    status: run.status.name,
    searchAttributes: Object.fromEntries(
      run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const),
    ),
  }));
}

/** Waits until that many runs match; the list follows the truth by a moment. */
export function waitForRuns(world: Pick<World, 'name' | 'runtime'>, query: string, count: number): Promise<Run[]> {
  return eventually(async () => {
    const runs = await runsOf(world, query);
    return runs.length >= count && runs;
  });
}
