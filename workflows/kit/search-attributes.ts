/**
 * What operators find workflows by. Lists, where a batch has several of them; a claim stops at 50 distinct ones, because
 * Temporal keeps at most 2 KB per attribute.
 */
export const searchAttributes = {
  OrganizationId: 'KEYWORD_LIST',
  RequestId: 'KEYWORD_LIST',
  EventTopic: 'KEYWORD_LIST',
  EntityKind: 'KEYWORD',
  EntityId: 'KEYWORD',
} as const;

export type SearchValues = {
  readonly [Name in keyof typeof searchAttributes]?: (typeof searchAttributes)[Name] extends 'KEYWORD_LIST'
    ? readonly string[]
    : string;
};
