/**
 * Search attributes of workflows. Those of which a batch has several are lists; a claim stops at 50 distinct values, because
 * Temporal accepts at most 2 KB per attribute.
 */
export const searchAttributes = {
  OrganizationId: 'KEYWORD_LIST',
  RequestId: 'KEYWORD_LIST',
  EventTopic: 'KEYWORD_LIST',
  EntityKind: 'KEYWORD',
  EntityId: 'KEYWORD',
  WorkflowDefinitionId: 'KEYWORD',
  WorkflowState: 'KEYWORD',
} as const;

export type SearchValues = {
  readonly [Name in keyof typeof searchAttributes]?: (typeof searchAttributes)[Name] extends 'KEYWORD_LIST'
    ? readonly string[]
    : string;
};
