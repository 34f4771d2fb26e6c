/** A field of Query or Mutation in GraphQL that concerns records of a kind: derived from the kind, or an action. */
export interface KindOperation {
  /** Tag of the operations of the kind in the reference of REST. */
  readonly tag: string;
  readonly on: 'query' | 'mutation';
  readonly name: string;
  /** Types of the arguments by name, for example `TaskWhere` or `[ID!]!`. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Clients should no longer use it. */
  readonly deprecated: boolean;
  /** API tokens, personal tokens, and whoever acts as somebody else may use it. */
  readonly acceptsTokens: boolean;
  /** Sessions of an organization's single sign-on may use it. */
  readonly acceptsSingleSignOn: boolean;
}
