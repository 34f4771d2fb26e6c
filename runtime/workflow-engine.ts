import { createCelEvaluator } from '#activities/clients/cel/create-cel-evaluator.ts';
import { definitionOf } from '#activities/clients/integrations/definitions.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { createGates } from '#entities/automation/gates/create-gates.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import type { DefinitionMeans } from '#entities/automation/document/check-definition.ts';
import { checkOfDefinitions, definitionCheck } from '#entities/automation/document/refuse-definition.ts';

/** The parts of the workflow engine that run in every process. Threads for expressions begin with the first one. */
export function workflowEngine(config: ConfigStore, registry: Registry) {
  const expressions = createCelEvaluator(config);
  // A change waits a short time for its gates, so they do not queue behind definitions that are checked, tried or matched.
  const gateExpressions = createCelEvaluator(config);
  const definitionMeans: DefinitionMeans = {
    expressions,
    maxBytes: () => config.current.ormconfig.maxschemaimportsize,
    operationsOf: (definitionId) => definitionOf(definitionId)?.operations.map(({ name }) => name) ?? [],
  };
  return {
    expressions,
    definitionMeans,
    databaseOptions: {
      valueChecks: { [definitionCheck]: checkOfDefinitions(definitionMeans) },
      gates: createGates({ registry, expressions: gateExpressions, isEnabled: () => config.current.workflows.enabled }),
    },
    close: async () => {
      await Promise.all([expressions.close(), gateExpressions.close()]);
    },
  };
}
