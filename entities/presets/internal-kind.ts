import { internalRecord } from './internal-record.ts';

/** Common parts of kinds for the server alone. @param why their records belong to no organization */
export function internalKind(why: string) {
  return { tenancy: { none: why }, policy: internalRecord() } as const;
}
