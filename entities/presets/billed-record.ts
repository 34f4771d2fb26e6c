import type { Policy } from '../kit/model/policy.ts';
import { internalRecord } from './internal-record.ts';
import { managedRecord } from './managed-record.ts';

/** Records of the products that an organization pays for: its managers view it, and only the server changes it. */
export function billedRecord(): Policy {
  return { ...internalRecord(), view: managedRecord().view };
}
