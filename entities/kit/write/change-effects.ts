/** What follows from recorded changes at the commit. */
export interface ChangeEffects {
  readonly pendingEvents: number;
  readonly tupleChanges: number;
  /** Scopes in which decisions about existing records change. */
  readonly raisedScopes: ReadonlySet<string>;
}
