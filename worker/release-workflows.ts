import type { WorkflowContract } from '#workflows/kit/contract.ts';
import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';

/** A workflow type of this release. */
export interface ReleaseWorkflow {
  readonly contract: WorkflowContract<object>;
  /** Absolute path of the file that exports the workflow. */
  readonly path: string;
}

const contractSuffix = '.contract.ts';

/** Every workflow type of this release: each `workflows/<area>/<name>.contract.ts` with the workflow file beside it. */
export const releaseWorkflows = workflowsOf(await sourceModules('workflows', contractSuffix));

/** @throws TypeError when a file exports no contract, or several, or when two contracts have the same name */
export function workflowsOf(contractModules: readonly SourceModule[]): readonly ReleaseWorkflow[] {
  const names = new Set<string>();
  return soleExports(contractModules, 'contract', isContract).map(({ path, value: contract }) => {
    if (names.has(contract.name)) throw new TypeError(`${path}: there is another workflow "${contract.name}"`);
    names.add(contract.name);
    return { contract, path: `${path.slice(0, -contractSuffix.length)}.ts` };
  });
}

function isContract(value: unknown): value is WorkflowContract<object> {
  return typeof value === 'object' && value !== null && 'workflowId' in value && 'name' in value;
}
