import { allow, anyone, deny, scope, system, type Policy } from '../kit/model/policy.ts';
import { internalRecord } from './internal-record.ts';
import { managers } from './roles.ts';

/** What an organization pays for: its managers view it, and only the server changes it. */
export function billedRecord(): Policy {
  return { ...internalRecord(), view: [allow(system), allow(managers), allow(scope), deny(anyone)] };
}
