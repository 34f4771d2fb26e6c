import type { WorkflowExecutionInfo } from '@temporalio/client';

type Attributes = Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>;

/** Report of Temporal about a run whose code fails again and again, such as `category=WorkflowTaskFailed`. */
export function problemsOf({ typedSearchAttributes }: Attributes): readonly string[] {
  const found = typedSearchAttributes.getAll().find(({ key }) => key.name === 'TemporalReportedProblems');
  return Array.isArray(found?.value) ? found.value.map(String) : [];
}

/** Search attributes of a run. Of a batch that has several, the first. */
export function searchValuesOf({ typedSearchAttributes }: Attributes) {
  const found = new Map(
    typedSearchAttributes.getAll().map(({ key, value }) => [key.name, Array.isArray(value) ? value[0] : value]),
  );
  const text = (name: string) => {
    const value: unknown = found.get(name);
    return typeof value === 'string' ? value : null;
  };
  return { organizationId: text('OrganizationId'), recordId: text('EntityId'), requestId: text('RequestId') };
}
