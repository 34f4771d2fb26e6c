import type { IngestOperation, IntegrationDefinition } from './definition.ts';
import { definitionOf } from './definitions.ts';

interface Installation {
  readonly status: string;
  readonly definitionId: string | null;
  readonly userInput: unknown;
}

/** Operations that are repeated while an integration is connected. */
export function loopedOperations(definition: IntegrationDefinition | undefined): IngestOperation[] {
  return (definition?.operations ?? []).flatMap((operation) =>
    operation.policy === 'run' && operation.isLooped ? [operation] : [],
  );
}

/** The operations of which an integration wants a loop: none unless it is connected. */
export function wantedLoops(
  row: Installation | undefined,
  definition = definitionOf(row?.definitionId ?? null),
): string[] {
  if (row?.status !== 'connected') return [];
  const { disabledOperations = [] } = (row.userInput ?? {}) as { readonly disabledOperations?: readonly string[] };
  return loopedOperations(definition)
    .map(({ name }) => name)
    .filter((name) => !disabledOperations.includes(name));
}
