import { createCelEvaluator } from '#activities/clients/cel/create-cel-evaluator.ts';
import type { ConfigStore } from '#config/live/config-store.ts';
import { createGates } from '#entities/automation/gates/create-gates.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { checkOfDefinitions, definitionCheck } from '#entities/automation/document/refuse-definition.ts';

/** The parts of the workflow engine that run in every process. Threads for expressions begin with the first one. */
export function workflowEngine(config: ConfigStore, registry: Registry) {
  const expressions = createCelEvaluator(config);
  const maxBytes = () => config.current.ormconfig.maxschemaimportsize;
  return {
    expressions,
    databaseOptions: {
      valueChecks: { [definitionCheck]: checkOfDefinitions({ expressions, maxBytes }) },
      gates: createGates({ registry, expressions, isEnabled: () => config.current.workflows.enabled }),
    },
    close: () => expressions.close(),
  };
}
