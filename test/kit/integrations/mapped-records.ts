import type { Envelope, IntegrationDefinition } from '#activities/clients/integrations/definition.ts';
import type { CelEnvironment, CelEvaluator, CelResult } from '#activities/clients/cel/cel-contract.ts';

/** Variables of mappings. */
export const mappingEnvironment: CelEnvironment = {
  variables: { payload: 'dyn', kind: 'string', variant: 'string' },
};

/** Evaluates the mappings of a definition for records: each has a value, or an error. */
export function mappedRecords(
  evaluator: CelEvaluator,
  { mappings }: IntegrationDefinition,
  records: readonly Envelope[],
): Promise<CelResult[]> {
  return evaluator.evaluate({
    environment: mappingEnvironment,
    items: records.map(({ kind, variant, payload }) => ({
      expression: mappings.find((one) => one.kind === kind && one.variant === variant)?.mapExpr ?? 'no mapping',
      variables: { payload, kind, variant: variant ?? '' },
      expected: 'map<string, dyn>',
    })),
  });
}

/** The values of the records. @throws Error for a record that has none */
export async function mappedValues(
  evaluator: CelEvaluator,
  definition: IntegrationDefinition,
  records: readonly Envelope[],
): Promise<unknown[]> {
  const results = await mappedRecords(evaluator, definition, records);
  return results.map((result) => {
    if ('error' in result) throw new Error(result.error.message);
    return structuredClone(result.value);
  });
}
