/** A field of Query or Mutation in GraphQL that belongs to a kind. */
export interface KindOperation {
  readonly kind: string;
  readonly on: 'query' | 'mutation';
  readonly name: string;
  /** Types of the arguments by name, for example `TaskWhere` or `[ID!]!`. */
  readonly arguments: Readonly<Record<string, string>>;
  /** API tokens, personal tokens, and whoever acts as somebody else may use it. */
  readonly acceptsTokens: boolean;
}
