import type { WorkflowExecutionInfo } from '@temporalio/client';

/** What a run is found by. Of a batch that has several, the first. */
export function searchValuesOf({ typedSearchAttributes }: Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>) {
  const found = new Map(
    typedSearchAttributes.getAll().map(({ key, value }) => [key.name, Array.isArray(value) ? value[0] : value]),
  );
  const text = (name: string) => {
    const value: unknown = found.get(name);
    return typeof value === 'string' ? value : null;
  };
  return { organizationId: text('OrganizationId'), recordId: text('EntityId'), requestId: text('RequestId') };
}
