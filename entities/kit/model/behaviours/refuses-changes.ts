import type { Behaviour, Refusal } from '../behaviour.ts';

/** Behaviour: creations, changes and deletions are refused, whoever makes them. It stands here because kinds of shares have it. */
export function refusesChanges<const Name extends string>(refusals: readonly Refusal<Name>[]): Behaviour<Name> {
  return {
    fields: refusals.map(({ field }) => field),
    rules: refusals.map(({ message }) => `A creation can be refused: ${message}`),
    refusals,
  };
}
