import type { WorkflowContract } from '#workflows/kit/contract.ts';
import { sourceModules, type SourceModule } from './source-modules.ts';

/** A workflow type of this release. */
export interface ReleaseWorkflow {
  readonly contract: WorkflowContract<object>;
  /** Absolute path of the file that exports the workflow. */
  readonly path: string;
}

const contractSuffix = '.contract.ts';

/** Every workflow type of this release: each `workflows/<area>/<name>.contract.ts` with the workflow file beside it. */
export const releaseWorkflows: readonly ReleaseWorkflow[] = (await sourceModules('workflows', contractSuffix)).map(
  (module) => ({ contract: contractOf(module), path: `${module.path.slice(0, -contractSuffix.length)}.ts` }),
);

function contractOf({ path, exports }: SourceModule): WorkflowContract<object> {
  const [contract, ...others] = Object.values(exports).filter(isContract);
  if (!contract || others.length > 0) throw new TypeError(`${path} must export one contract`);
  return contract;
}

function isContract(value: unknown): value is WorkflowContract<object> {
  return typeof value === 'object' && value !== null && 'workflowId' in value && 'name' in value;
}
