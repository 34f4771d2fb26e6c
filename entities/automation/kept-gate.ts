/** Keys of the approvals that a held change needs in a round, as the context of its instance keeps them. */
export interface KeptGate {
  readonly gate: { readonly round: number; readonly keys: readonly string[] };
}

export function keptGate(round: number, keys: readonly string[]): KeptGate {
  return { gate: { round, keys } };
}
