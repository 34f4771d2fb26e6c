import type { CelLimits } from '#activities/clients/cel/cel-contract.ts';

/** The defaults of `workflows.cel`, but with time enough for a busy machine. */
export const celLimits: CelLimits = {
  timeout: 60_000,
  costlimit: 1_000_000,
  interruptcheckfrequency: 100,
  parserrecursionlimit: 250,
  parserexpressionsizelimit: 100_000,
  comprehensionnestinglimit: 4,
  extendedvalidations: true,
  optionaltypes: false,
  identifierescapesyntax: true,
  crosstypenumericcomparisons: false,
  macrocalltracking: false,
  evaloptimize: true,
  trackstate: false,
};
