import { fileURLToPath } from 'node:url';
import { releaseSweeps } from '#activities/sweeps/release-sweeps.ts';
import type { Sweep } from '#activities/sweeps/define-sweep.ts';
import type { WorkflowContract } from '#workflows/kit/contract.ts';
import { sweepContract } from '#workflows/kit/sweep-contract.ts';
import { soleExports, sourceModules, type SourceModule } from '#entities/kit/base/source-modules.ts';

interface ReleaseWorkflow {
  readonly contract: WorkflowContract<object>;
  /** Absolute path of the file that exports the workflow, or makes it for a sweep (`sweepFile`). */
  readonly path: string;
  readonly sweep?: Sweep;
}

const contractSuffix = '.contract.ts';

/** Makes the workflows of all sweeps. */
export const sweepFile = fileURLToPath(new URL('../workflows/kit/sweep-records.ts', import.meta.url));

/** Every workflow type of this release: each `workflows/<area>/<name>.contract.ts` with the workflow file beside it, and each sweep. */
export const releaseWorkflows = workflowsOf(await sourceModules('workflows', contractSuffix), releaseSweeps);

/** @throws TypeError when a file exports no contract, or several, or when two contracts have the same name */
export function workflowsOf(
  contractModules: readonly SourceModule[],
  sweeps: readonly Sweep[] = [],
): readonly ReleaseWorkflow[] {
  const names = new Set<string>();
  const own = soleExports(contractModules, 'contract', isContract).map(({ path, value: contract }) => ({
    contract,
    path: `${path.slice(0, -contractSuffix.length)}.ts`,
  }));
  const ofSweeps = sweeps.map((sweep) => ({ contract: sweepContract(sweep), path: sweepFile, sweep }));
  return [...own, ...ofSweeps].map((workflow) => {
    const { contract, path } = workflow;
    if (names.has(contract.name)) throw new TypeError(`${path}: there is another workflow "${contract.name}"`);
    names.add(contract.name);
    return workflow;
  });
}

function isContract(value: unknown): value is WorkflowContract<object> {
  return typeof value === 'object' && value !== null && 'workflowId' in value && 'name' in value;
}
