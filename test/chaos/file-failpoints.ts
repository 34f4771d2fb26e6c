import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import type { Program } from '../kit/processes/product-processes.ts';

export const api = 'api/api-main.ts' satisfies Program;
export const worker = 'worker/worker-main.ts' satisfies Program;

/** Where bytes are received, checked, copied, restored and removed, with the program that passes there. */
export const fileFailpoints = [
  { failpoint: 'upload-begun', program: api },
  { failpoint: 'upload-received', program: api },
  { failpoint: 'upload-durable', program: api },
  { failpoint: 'upload-finished', program: api },
  { failpoint: 'part-saved', program: api },
  { failpoint: 'work-claimed', program: worker },
  { failpoint: 'check-copied', program: worker },
  { failpoint: 'copy-written', program: worker },
  { failpoint: 'copy-verified', program: worker },
  { failpoint: 'restore-written', program: worker },
  { failpoint: 'remove-marked', program: worker },
  { failpoint: 'bytes-removed', program: worker },
] as const satisfies readonly { readonly failpoint: Failpoint; readonly program: Program }[];

export type FileFailpoint = (typeof fileFailpoints)[number]['failpoint'];
